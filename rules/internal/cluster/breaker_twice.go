package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "breaker-twice",
	Severity: lint.Warning,
	Summary:  "a cluster has circuit breaker thresholds twice for a priority, and Envoy ignores the second ones",
	Links: []string{
		"ClusterInfoImpl::ResourceManagers::load (source/common/upstream/upstream_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		at, first := at.Field("circuit_breakers"), map[corev3.RoutingPriority]lint.At{}
		for i, t := range c.GetCircuitBreakers().GetThresholds() {
			where := at.Item("thresholds", i)
			before, twice := first[t.GetPriority()]
			if !twice {
				first[t.GetPriority()] = where
				continue
			}
			p.Report(where, lint.Diagnostic{
				Message: fmt.Sprintf("these thresholds are ignored, because there are others for the priority %s", t.GetPriority()),
				Notes:   []string{"Envoy uses the first thresholds of a priority; without priority, they are for DEFAULT"},
				Help:    "write one element with all limits of the priority, or priority: HIGH",
				Related: []lint.Related{lint.RelatedTo(before, "Envoy uses these")},
			})
		}
	}),
})
