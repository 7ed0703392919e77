package http

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-regex-invalid",
	Severity: lint.Error,
	Summary:  "a regular expression of a filter or of an access log is not valid for RE2",
	Links:    []string{"CompiledGoogleReMatcher (source/common/common/regex.cc)", "https://github.com/google/re2/wiki/Syntax"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *matcherv3.RegexMatcher) {
		if compiled(at.Place) {
			check.Regex(p, at, m)
		}
	})),
})

// compilers are the filters that compile their regular expressions when Envoy loads them.
var compilers = []protoreflect.FullName{
	"envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning",
	"envoy.extensions.filters.http.cache.v3.CacheConfig",
	"envoy.extensions.filters.http.cors.v3.CorsPolicy",
	"envoy.extensions.filters.http.csrf.v3.CsrfPolicy",
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
	"envoy.extensions.filters.http.fault.v3.HTTPFault",
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute",
	"envoy.extensions.filters.http.header_to_metadata.v3.Config",
	"envoy.extensions.filters.http.health_check.v3.HealthCheck",
	"envoy.extensions.filters.http.json_to_metadata.v3.JsonToMetadata",
	"envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
	"envoy.extensions.filters.http.oauth2.v3.OAuth2",
	"envoy.extensions.filters.http.rbac.v3.RBAC",
	"envoy.extensions.filters.http.rbac.v3.RBACPerRoute",
	"envoy.extensions.filters.http.tap.v3.Tap",
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
	"envoy.extensions.filters.network.rbac.v3.RBAC",
}

// compiled reports whether a place is in the filter of an access log, or in a filter that compiles its expressions. Those of route tables have
// a rule of their own.
func compiled(place *graph.Place) bool {
	if around(place, "on_header_missing") || envoy.RulesIgnored(place) {
		return false // Envoy never rewrites what is missing
	}
	for at := place; at != nil; at = at.Parent {
		switch at.Message.Interface().(type) {
		case *routev3.RouteConfiguration, *routev3.VirtualHost, *routev3.Route:
			return false
		case *accesslogv3.AccessLogFilter:
			return true
		case *hcmv3.HttpConnectionManager:
			return false
		}
		name := at.Message.Descriptor().FullName()
		if slices.Contains(compilers, name) {
			return true
		}
		if name == "google.protobuf.Any" {
			return false
		}
	}
	return false
}

// around reports whether a place is in a field of a name.
func around(place *graph.Place, field protoreflect.Name) bool {
	for ; place != nil; place = place.Parent {
		if fd := envoy.FieldOf(place); fd != nil && fd.Name() == field {
			return true
		}
	}
	return false
}
