package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "implicit-15s",
	Severity: lint.Info,
	Summary:  "a route for streams or slow responses has the default timeout of 15 seconds",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/timeouts#route-timeouts",
		"https://github.com/envoyproxy/envoy/issues/17697",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		timeout, known := envoy.RouteTimeout(r.GetRoute())
		if r.GetRoute() == nil || r.GetRoute().GetTimeout() != nil || !known || timeout == 0 {
			return
		}
		s, ok := streamOf(at.Field("match"), r.GetMatch())
		if !ok || s.upgrade {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("Envoy ends %s after 15s", s.what),
			Notes:   []string{"a route without timeout has one of 15s, from the end of the request to the end of the response"},
			Help:    "add timeout: 0s for streams, or the time that a response may take",
			Fixes:   lint.Insert(at.Field("route"), "timeout", "0s").Likely("add timeout: 0s"),
		}
		if s.certain {
			d.Severity = lint.Warning
		}
		p.Report(s.at, d)
	}),
})
