package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

// breakerDefault is the default of max_connections, max_pending_requests and max_requests.
const breakerDefault = 1024

var _ = Rules.Add(&lint.Rule{
	Name:     "partial-circuit-breaker",
	Severity: lint.Info,
	Summary:  "a circuit breaker allows more connections than its default of 1024, but not more requests",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto",
		"https://github.com/envoyproxy/envoy/issues/11908",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		for i, t := range c.GetCircuitBreakers().GetThresholds() {
			if t.GetMaxConnections().GetValue() <= breakerDefault || t.GetMaxRequests() != nil || !check.Routed(p, at.Resource()) {
				continue
			}
			at := at.Field("circuit_breakers").Item("thresholds", i)
			p.Report(at.Field("max_connections"), lint.Diagnostic{
				Message: fmt.Sprintf("cluster %q allows %d connections, but only %d requests at a time", c.GetName(), t.GetMaxConnections().GetValue(), breakerDefault),
				Notes:   []string{"each limit that is not written keeps its default; Envoy answers requests above max_requests with 503 (response flag UO)"},
				Help:    "also write max_requests and max_pending_requests",
				Fixes:   lint.Insert(at, "max_requests", int(t.GetMaxConnections().GetValue())).Likely("allow as many requests"),
			})
		}
	}),
})
