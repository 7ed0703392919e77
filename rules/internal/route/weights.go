package route

import (
	"fmt"
	"math"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weights",
	Severity: lint.Error,
	Summary:  "the weights of a route's clusters add up to 0 or to more than 32 bits can hold, or one is missing",
	Links:    []string{"WeightedClusterSpecifierPlugin (source/common/router/weighted_cluster_specifier.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.WeightedCluster) {
		if holder(at) != "envoy.config.route.v3.RouteAction.weighted_clusters" || len(m.GetClusters()) == 0 {
			return // an empty list violates a constraint
		}
		runtime := envoy.RuntimeOf(p.Snapshot)
		var sum uint64
		for i, c := range m.GetClusters() {
			if c.GetWeight() == nil {
				if _, ok := tableOf(p, at); ok {
					p.Reject(at.Item("clusters", i), lint.Rejection{
						Message:  "this cluster does not have a weight",
						Help:     "write a weight; weight: 0 sends no requests to it",
						Upstream: "Field 'weight' is missing in: " + c.GetName(),
					})
				}
				return
			}
			sum += weightOf(runtime, m, c)
		}
		if sum > 0 && sum <= math.MaxUint32 || m.GetRuntimeKeyPrefix() != "" && !runtime.Known {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if sum == 0 {
			p.Reject(at.Field("clusters").Key(), lint.Rejection{
				Message:  "the weights of these clusters add up to 0",
				Help:     "raise the weight of one of them",
				Upstream: "Sum of weights in the weighted_cluster must be greater than 0.",
			})
			return
		}
		name := ""
		if r, where := graph.Around[*routev3.Route](at.Place); where != nil {
			name = r.GetName()
		}
		p.Reject(at.Field("clusters").Key(), lint.Rejection{
			Message:  fmt.Sprintf("the weights of these clusters add up to %d, more than 4294967295", sum),
			Help:     "write smaller weights, such as percentages",
			Upstream: fmt.Sprintf("The sum of weights of all weighted clusters of route %s exceeds 4294967295", name),
		})
	}),
})

// weightOf returns a cluster's weight when the table is loaded. The runtime can set another one.
func weightOf(runtime envoy.Runtime, m *routev3.WeightedCluster, c *routev3.WeightedCluster_ClusterWeight) uint64 {
	weight := uint64(c.GetWeight().GetValue())
	if m.GetRuntimeKeyPrefix() == "" {
		return weight
	}
	return runtime.Integer(m.GetRuntimeKeyPrefix()+"."+c.GetName(), weight)
}
