package endpoint

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "all-unhealthy",
	Severity: lint.Warning,
	Summary:  "all endpoints of a cluster are marked as unhealthy or draining, and get requests all the same",
	Links: []string{
		"LoadBalancerBase::recalculatePerPriorityPanic (source/extensions/load_balancing_policies/common/load_balancer_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/panic_threshold",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		if len(a.GetPolicy().GetDropOverloads()) > 0 || at.Resource().Kind == graph.Patch {
			return // Envoy drops requests; or an aggregate that the patch does not show may have the cluster as a member
		}
		first := -1
		for i, l := range a.GetEndpoints() {
			if l.GetLedsClusterLocalityConfig() != nil || l.GetLbConfig() != nil {
				return // endpoints that are not in the message
			}
			for _, e := range l.GetLbEndpoints() {
				if envoy.Usable(e) {
					return
				}
				if first < 0 {
					first = i
				}
			}
		}
		panics := func(c *clusterv3.Cluster) bool { return usesAll(p, c) }
		if first < 0 || !everyCluster(p, at, panics) {
			return
		}
		p.Report(at.Item("endpoints", first).Item("lb_endpoints", 0).Field("health_status"), lint.Diagnostic{
			Message: "no endpoint of the cluster is marked as healthy, so all of them get requests",
			Notes: []string{"if fewer than healthy_panic_threshold of the hosts are healthy, 50 % by default, Envoy ignores their health " +
				"(panic mode)"},
			Help: "to take the endpoints out of use, remove them, or set healthy_panic_threshold to 0: Envoy then answers 503",
		})
	}),
})

// usesAll reports whether the load balancer of a cluster uses all hosts when none is healthy. That of an aggregate uses other members.
func usesAll(p *lint.Pass, c *clusterv3.Cluster) bool {
	for _, r := range p.Snapshot.Named(graph.Cluster, c.GetName()) {
		if slices.ContainsFunc(p.Snapshot.To(r), func(e *graph.Edge) bool { return envoy.RoleOf(e) == envoy.MemberCluster }) {
			return false
		}
	}
	return envoy.Panics(p.Snapshot, c) && !c.GetCommonLbConfig().GetZoneAwareLbConfig().GetFailTrafficOnPanic() &&
		c.GetLoadBalancingPolicy() == nil && len(c.GetLbSubsetConfig().GetSubsetSelectors()) == 0 &&
		c.GetLbPolicy() != clusterv3.Cluster_CLUSTER_PROVIDED
}
