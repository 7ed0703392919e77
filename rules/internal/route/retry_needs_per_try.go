package route

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-needs-per-try",
	Severity: lint.Info,
	Summary:  "failed requests are retried, but not those to a host that hangs",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/timeouts#route-timeouts",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#envoy-v3-api-field-config-route-v3-retrypolicy-per-try-timeout",
	},
	Run: eachRetrying(func(p *lint.Pass, r retrying) {
		timeout, known := envoy.RouteTimeout(r.route.GetRoute())
		if !r.own || !known || timeout == 0 || r.policy.GetPerTryTimeout().AsDuration() > 0 || r.policy.GetPerTryIdleTimeout().AsDuration() > 0 ||
			!envoy.RetriesOn(r.policy, "5xx", "gateway-error") {
			return
		}
		p.Report(r.at.Key(), lint.Diagnostic{
			Message: fmt.Sprintf("a host that hangs takes all of the %s: there is no second try", seconds(timeout)),
			Notes:   []string{"without per_try_timeout, the first try ends with the timeout of the route"},
			Help:    "add a per_try_timeout that leaves time for another try",
		})
	}),
})
