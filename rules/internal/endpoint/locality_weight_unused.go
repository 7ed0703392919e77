package endpoint

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "locality-weight-unused",
	Severity: lint.Warning,
	Summary:  "localities have different weights, and the cluster does not use them",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/locality_weight"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		i := otherWeight(a)
		if i < 0 || !everyCluster(p, at, ignoresLocalityWeights) {
			return
		}
		l := a.GetEndpoints()[i]
		p.Report(at.Item("endpoints", i).Field("load_balancing_weight"), lint.Diagnostic{
			Message: fmt.Sprintf("the weight %d of locality %s is ignored", l.GetLoadBalancingWeight().GetValue(), nameOf(l)),
			Notes:   []string{"without locality_weighted_lb_config, each endpoint gets the same share of the requests, wherever it is"},
			Help:    "write common_lb_config: {locality_weighted_lb_config: {}} in the cluster, or weights for endpoints",
		})
	}),
})

// otherWeight returns the index of the first locality whose weight asks for another share than its endpoints get, or -1. The weights of a priority
// often are those of the endpoints, added up, and then nothing differs.
func otherWeight(a *endpointv3.ClusterLoadAssignment) int {
	first := map[uint32]*endpointv3.LocalityLbEndpoints{} // by priority
	for i, l := range a.GetEndpoints() {
		if l.GetLoadBalancingWeight().GetValue() == 0 || len(l.GetLbEndpoints()) == 0 {
			continue
		}
		before := first[l.GetPriority()]
		if before == nil {
			first[l.GetPriority()] = l
		} else if share(l, before) != share(before, l) {
			return i
		}
	}
	return -1
}

// share is the weight of a locality, multiplied by the weights of the endpoints of another one.
func share(l, other *endpointv3.LocalityLbEndpoints) uint64 {
	var sum uint64
	for _, e := range other.GetLbEndpoints() {
		sum += max(1, uint64(e.GetLoadBalancingWeight().GetValue()))
	}
	return uint64(l.GetLoadBalancingWeight().GetValue()) * sum
}

// ignoresLocalityWeights reports whether a cluster shares requests among all endpoints of a priority (LoadBalancerBase and
// ZoneAwareLoadBalancerBase in source/extensions/load_balancing_policies/common/load_balancer_impl.cc).
func ignoresLocalityWeights(c *clusterv3.Cluster) bool {
	return c.GetLoadBalancingPolicy() == nil && c.GetCommonLbConfig().GetLocalityWeightedLbConfig() == nil && c.GetClusterType() == nil
}
