package http

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-header-reserved",
	Severity: lint.Error,
	Summary:  "a filter sets a reserved header, or sets both append and append_action",
	Links:    []string{"HeaderParser::configure (source/common/router/header_parser.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *corev3.HeaderValueOption) {
		if fd := envoy.FieldOf(at.Place); fd != nil && slices.Contains(headerFields, fd.FullName()) && !inManager(at) {
			checkOption(p, at, m)
		}
	}), read.Of(func(p *lint.Pass, at lint.At, m *corev3.HeaderValue) {
		if fd := envoy.FieldOf(at.Place); fd != nil && slices.Contains(headerFields, fd.FullName()) && envoy.ReservedHeader(m.GetKey()) {
			p.Reject(at.Field("key"), lint.Rejection{
				Message:  "the header " + m.GetKey() + " cannot be set here",
				Help:     "remove it",
				Upstream: ":-prefixed or host headers may not be modified",
			})
		}
	})),
})

// headerFields are the fields whose headers Envoy parses with the filter that has them.
var headerFields = []protoreflect.FullName{
	"envoy.config.common.mutation_rules.v3.HeaderMutation.append",
	"envoy.extensions.filters.http.ext_authz.v3.AuthorizationRequest.headers_to_add",
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit.request_headers_to_add_when_not_enforced",
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit.response_headers_to_add",
	"envoy.extensions.filters.http.ratelimit.v3.RateLimit.response_headers_to_add",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.headers_to_add",
	"envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy.response_headers_to_add",
	"envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy.request_headers_to_add",
	"envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy.response_headers_to_add",
}

// inManager reports whether a header is in a connection manager's own mutations, which http/reserved-header checks.
func inManager(at lint.At) bool { return at.Place.Enclosing(earlyMutation) != nil }
