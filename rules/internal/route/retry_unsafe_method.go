package route

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-unsafe-method",
	Severity: lint.Info,
	Summary:  "a route for POST or PATCH repeats requests that the upstream may have carried out",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter#x-envoy-retry-on",
		"https://www.rfc-editor.org/rfc/rfc9110.html#name-idempotent-methods",
	},
	Run: eachRetrying(func(p *lint.Pass, r retrying) {
		if r.route.GetMatch().GetGrpc() != nil || !envoy.RetriesOn(r.policy, "5xx", "gateway-error", "reset") {
			return
		}
		for _, h := range r.route.GetMatch().GetHeaders() {
			method := h.GetStringMatch().GetExact()
			if h.GetName() != ":method" || h.GetInvertMatch() || method != "POST" && method != "PATCH" {
				continue
			}
			p.Report(r.place("retry_on"), lint.Diagnostic{
				Message: fmt.Sprintf("a %s is sent again although the upstream may have carried it out", method),
				Notes:   []string{"5xx, gateway-error and reset also apply after the upstream got the request"},
				Help:    "retry only on connect-failure,refused-stream,reset-before-request, unless the upstream recognises repeated requests",
			})
		}
	}),
})
