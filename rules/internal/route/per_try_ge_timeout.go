package route

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "per-try-ge-timeout",
	Severity: lint.Warning,
	Summary:  "the timeout of a try is not shorter than that of the route",
	Links: []string{
		"FilterUtility::finalTimeout (source/common/router/router.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter#x-envoy-upstream-rq-per-try-timeout-ms",
	},
	Run: eachRetrying(func(p *lint.Pass, r retrying) {
		perTry := r.policy.GetPerTryTimeout().AsDuration()
		timeout, _ := envoy.RouteTimeout(r.route.GetRoute())
		if perTry == 0 || r.timesOut() {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("per_try_timeout %s has no effect, since the timeout of the route is %s", seconds(perTry), seconds(timeout)),
			Notes:   []string{"Envoy ignores a per_try_timeout that is not shorter than the timeout for all tries together: a slow try is never repeated"},
			Help:    "write a shorter per_try_timeout, or a longer timeout",
		}
		if r.route.GetRoute().GetTimeout() == nil {
			d.Notes = append(d.Notes, "a route without timeout has one of 15s")
		}
		if !r.own {
			d.Related = []lint.Related{lint.RelatedTo(r.at.Field("per_try_timeout"), "the per_try_timeout of the virtual host")}
		}
		p.Report(r.place("per_try_timeout"), d)
	}),
})
