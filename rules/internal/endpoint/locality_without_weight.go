package endpoint

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "locality-without-weight",
	Severity: lint.Warning,
	Summary:  "a locality without a weight gets no requests, because others have one",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/locality_weight"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		c, ok := clusterOf(at)
		if !ok || c == nil && !usedByWeight(p, at.Resource()) || c != nil && !weighsLocalities(c) {
			return
		}
		for i, locality := range a.GetEndpoints() {
			samePriority := func(l *endpointv3.LocalityLbEndpoints) bool {
				return l.GetPriority() == locality.GetPriority() && l.GetLoadBalancingWeight().GetValue() > 0 && len(l.GetLbEndpoints()) > 0
			}
			if locality.GetLoadBalancingWeight() == nil && len(locality.GetLbEndpoints()) > 0 && slices.ContainsFunc(a.GetEndpoints(), samePriority) {
				p.Report(at.Item("endpoints", i), lint.Diagnostic{
					Message: fmt.Sprintf("locality %s has no load_balancing_weight, so it gets no requests", nameOf(locality)),
					Notes:   []string{"locality_weighted_lb_config shares requests by the weights of localities, and a missing weight counts as 0"},
					Help:    "add load_balancing_weight to each locality of this priority, or to none",
				})
			}
		}
	}),
})

// weighsLocalities reports whether a cluster shares requests by the weights of localities.
func weighsLocalities(c *clusterv3.Cluster) bool {
	return c.GetCommonLbConfig().GetLocalityWeightedLbConfig() != nil && c.GetLoadBalancingPolicy() == nil
}

// usedByWeight reports whether a cluster that gets the endpoints over EDS shares requests by the weights of localities.
func usedByWeight(p *lint.Pass, assignment *graph.Resource) bool {
	return slices.ContainsFunc(p.Snapshot.To(assignment), func(e *graph.Edge) bool {
		c, ok := e.From.Message.(*clusterv3.Cluster)
		return ok && weighsLocalities(c)
	})
}

// nameOf names a locality by the parts that it has: "eu-west/a".
func nameOf(l *endpointv3.LocalityLbEndpoints) string {
	name := ""
	for _, part := range []string{l.GetLocality().GetRegion(), l.GetLocality().GetZone(), l.GetLocality().GetSubZone()} {
		if part != "" && name != "" {
			name += "/"
		}
		name += part
	}
	return fmt.Sprintf("%q", name)
}
