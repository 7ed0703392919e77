package route

import (
	"fmt"
	"time"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "timeout-inversion",
	Severity: lint.Info,
	Summary:  "the timeout of a route is longer than the idle timeout of its streams",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/timeouts#stream-timeouts",
		"https://github.com/envoyproxy/envoy/issues/5097",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			action := l.Route.GetRoute()
			timeout, known := envoy.RouteTimeout(action)
			if l.Cluster != nil || action.GetTimeout() == nil || !known {
				return
			}
			var longest time.Duration
			for _, m := range users {
				idle := envoy.StreamIdleTimeout(m.Message, action)
				if idle == 0 || idle >= timeout {
					return
				}
				longest = max(longest, idle)
			}
			p.Report(l.At.Field("route", "timeout"), lint.Diagnostic{
				Message: fmt.Sprintf("a response that does not begin within %s is cut off, although the timeout is %s", seconds(longest), seconds(timeout)),
				Notes:   []string{"Envoy ends a stream on which no byte came or went for the stream_idle_timeout of its connection manager, by default 300s, or the idle_timeout of the route"},
				Help:    fmt.Sprintf("add idle_timeout: %s to the route, if the upstream may send nothing for so long", seconds(timeout)),
				Fixes:   lint.Insert(l.At.Field("route"), "idle_timeout", seconds(timeout)).Likely("let the stream be silent as long"),
			})
		})
	}),
})
