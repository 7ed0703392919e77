package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hedge-inert",
	Severity: lint.Warning,
	Summary:  "hedge_on_per_try_timeout has no effect: tries do not time out, or are not repeated",
	Links: []string{
		"Filter::onSoftPerTryTimeout (source/common/router/router.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_routing#request-hedging",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, host *routev3.VirtualHost) {
		inherited, inert := 0, 0
		for i, route := range host.GetRoutes() {
			own, policy := at.Item("routes", i), route.GetRoute().GetHedgePolicy()
			if policy == nil {
				policy = host.GetHedgePolicy()
			}
			if route.GetRoute() == nil || !policy.GetHedgeOnPerTryTimeout() {
				continue
			}
			r := retryingOf(own, route, at, host)
			hedges := r.timesOut() && envoy.Retries(r.policy) || clusterRetries(p, route.GetRoute())
			switch {
			case route.GetRoute().GetHedgePolicy() == nil:
				if inherited++; !hedges {
					inert++
				}
			case !hedges:
				reportHedge(p, own.Field("route", "hedge_policy"))
			}
		}
		if inherited > 0 && inert == inherited {
			reportHedge(p, at.Field("hedge_policy"))
		}
	}),
})

func reportHedge(p *lint.Pass, at lint.At) {
	if _, ok := tableOf(p, at); !ok {
		return
	}
	p.Report(at.Field("hedge_on_per_try_timeout"), lint.Diagnostic{
		Message: "no request is hedged",
		Notes:   []string{"Envoy sends a second request when the per_try_timeout of the first one has passed, if there is a retry_on"},
		Help:    "write a retry_policy with retry_on, and a per_try_timeout that is shorter than the timeout of the route",
	})
}
