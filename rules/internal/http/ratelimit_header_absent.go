package http

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ratelimit-header-absent",
	Severity: lint.Info,
	Summary:  "requests without a header escape all rate limits of a route",
	Links: []string{
		"RequestHeadersAction::populateDescriptor (source/common/router/router_ratelimit.cc)",
		"https://github.com/envoyproxy/envoy/issues/10124",
	},
	Run: eachLimited(func(p *lint.Pass, l limited) {
		if slices.ContainsFunc(l.limits, func(limit envoy.RateLimit) bool { return neededHeader(limit.Message) < 0 }) {
			return // a limit for all requests
		}
		for _, limit := range l.limits {
			i := neededHeader(limit.Message)
			at := limit.At.Item("actions", i).Field("request_headers")
			p.Report(at.Field("header_name"), lint.Diagnostic{
				Message: fmt.Sprintf("requests without the header %s are not limited", limit.Message.GetActions()[i].GetRequestHeaders().GetHeaderName()),
				Notes:   []string{"if the header is absent, Envoy drops the whole descriptor, also what other actions build; a client can leave the header out"},
				Help:    "set skip_if_absent: true to limit such requests by the other actions, or add a rate limit without the header",
			})
		}
	}),
})

// neededHeader returns the index of an action for a header that a client can leave out, without which the rate limit does not apply; or -1.
func neededHeader(l *routev3.RateLimit) int {
	return slices.IndexFunc(l.GetActions(), func(a *routev3.RateLimit_Action) bool {
		h := a.GetRequestHeaders()
		return h != nil && !h.GetSkipIfAbsent() && !strings.HasPrefix(h.GetHeaderName(), ":") && !slices.Contains(envoyHeaders, strings.ToLower(h.GetHeaderName()))
	})
}

// envoyHeaders are headers that Envoy adds to each request by default.
var envoyHeaders = []string{"x-forwarded-for", "x-forwarded-proto", "x-request-id", "x-envoy-external-address", "host"}
