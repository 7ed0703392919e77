package cluster

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "per-host-limit",
	Severity: lint.Error,
	Summary:  "a circuit breaker has a per-host limit that only works for a cluster",
	Links:    []string{"ClusterInfoImpl::ResourceManagers::load (source/common/upstream/upstream_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		var seen []corev3.RoutingPriority
		for i, t := range c.GetCircuitBreakers().GetPerHostThresholds() {
			if slices.Contains(seen, t.GetPriority()) {
				continue
			}
			seen = append(seen, t.GetPriority())
			for _, field := range []struct {
				name string
				set  bool
			}{
				{"max_pending_requests", t.GetMaxPendingRequests() != nil},
				{"max_requests", t.GetMaxRequests() != nil},
				{"max_retries", t.GetMaxRetries() != nil},
				{"max_connection_pools", t.GetMaxConnectionPools() != nil},
				{"retry_budget", t.GetRetryBudget() != nil},
			} {
				if field.set {
					p.Reject(at.Field("circuit_breakers").Item("per_host_thresholds", i).Field(field.name).Key(), lint.Rejection{
						Message:  fmt.Sprintf("%s cannot be limited per host", field.name),
						Help:     "move it to thresholds, where it applies to the cluster; only max_connections can be limited per host",
						Upstream: "Unsupported field in per_host_thresholds",
					})
				}
			}
		}
	}),
})
