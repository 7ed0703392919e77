package endpoint

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weight-sum",
	Severity: lint.Error,
	Summary:  "the weights in a cluster with a hashing load balancer add up to more than 32 bits can hold",
	Links:    []string{"TypedHashLbConfigBase::validateEndpoints (source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		x := p.Target.Extensions()
		if envoy.ClusterFactory(x, c) != envoy.ClusterStatic || !envoy.BalancingOf(x, at, c).Hashes() {
			return
		}
		hosts, localities := map[uint32]uint64{}, map[uint32]map[string]uint64{}
		for i, locality := range c.GetLoadAssignment().GetEndpoints() {
			at, priority := at.Field("load_assignment").Item("endpoints", i), locality.GetPriority()
			for j, endpoint := range locality.GetLbEndpoints() {
				before := hosts[priority]
				hosts[priority] += uint64(max(endpoint.GetLoadBalancingWeight().GetValue(), 1))
				if before <= envoy.MaxWeights && hosts[priority] > envoy.MaxWeights {
					p.Reject(at.Item("lb_endpoints", j), lint.Rejection{
						Message:  fmt.Sprintf("with this endpoint the weights of priority %d add up to more than %d", priority, uint32(envoy.MaxWeights)),
						Help:     "write smaller weights in the same proportions",
						Upstream: "The sum of weights of all upstream hosts in a locality exceeds 4294967295",
					})
				}
			}
			if locality.GetLocality() == nil || locality.GetLoadBalancingWeight() == nil {
				continue
			}
			if localities[priority] == nil {
				localities[priority] = map[string]uint64{}
			}
			l := locality.GetLocality()
			localities[priority][l.GetRegion()+"\x00"+l.GetZone()+"\x00"+l.GetSubZone()] = uint64(locality.GetLoadBalancingWeight().GetValue())
			sum := uint64(0)
			for _, weight := range localities[priority] {
				sum += weight
			}
			if sum > envoy.MaxWeights {
				p.Reject(at.Field("load_balancing_weight"), lint.Rejection{
					Message:  fmt.Sprintf("with this locality the weights of priority %d add up to more than %d", priority, uint32(envoy.MaxWeights)),
					Help:     "write smaller weights in the same proportions",
					Upstream: "The sum of weights of all localities at the same priority exceeds 4294967295",
				})
			}
		}
	}),
})
