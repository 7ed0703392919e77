package route

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "stream-idle-default",
	Severity: lint.Info,
	Summary:  "WebSockets, tunnels or streams of events end after 5 minutes without data, the default",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto#envoy-v3-api-field-extensions-filters-network-http-connection-manager-v3-httpconnectionmanager-stream-idle-timeout",
		"https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/timeouts#stream-timeouts",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Route.GetRoute() == nil || l.Cluster != nil || l.Route.GetRoute().GetIdleTimeout() != nil ||
				slices.ContainsFunc(users, func(m managers.Manager) bool { return m.Message.GetStreamIdleTimeout() != nil }) {
				return
			}
			if s, ok := streamOf(l.At.Field("match"), l.Route.GetMatch()); ok && s.certain {
				p.Report(s.at, lint.Diagnostic{
					Message: fmt.Sprintf("Envoy ends %s after 5 minutes without data", s.what),
					Notes:   []string{"that is the default of stream_idle_timeout, also for WebSockets and tunnels"},
					Help:    "add idle_timeout to the route, 0s for none, or let both sides send pings more often",
				})
			}
		})
	}),
})
