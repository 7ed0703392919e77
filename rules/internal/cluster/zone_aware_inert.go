package cluster

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "zone-aware-inert",
	Severity: lint.Warning,
	Summary:  "a cluster asks for zone aware routing, and Envoy does not know the zone of its hosts or of its own cluster",
	Links: []string{
		"ZoneAwareLoadBalancerBase::earlyExitNonLocalityRouting (source/extensions/load_balancing_policies/common/load_balancer_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/zone_aware",
		"https://github.com/envoyproxy/envoy/issues/8616",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		b, _ := p.Snapshot.Bootstrap()
		if c.GetCommonLbConfig().GetZoneAwareLbConfig() == nil || c.GetLoadBalancingPolicy() != nil || b == nil || p.Snapshot.Partial() {
			return
		}
		d := lint.Diagnostic{
			Notes: []string{"Envoy sends requests to all zones, as if zone_aware_lb_config were missing"},
		}
		switch {
		case b.GetClusterManager().GetLocalClusterName() == "":
			d.Message = "Envoy does not prefer its own zone, because the bootstrap does not name the cluster that it belongs to"
			d.Help = "write cluster_manager: {local_cluster_name: …} in the bootstrap: the cluster whose endpoints are the Envoys themselves"
		case nowhere(envoy.AssignmentOf(p.Target.Extensions(), p.Snapshot, at, c)):
			d.Message = "Envoy does not prefer its own zone, because no endpoint of the cluster has a locality"
			d.Help = "write the locality of the endpoints"
		default:
			return
		}
		p.Report(at.Field("common_lb_config", "zone_aware_lb_config").Key(), d)
	}),
})

// nowhere reports whether there are endpoints, and none of them has a locality.
func nowhere(a *endpointv3.ClusterLoadAssignment) bool {
	return envoy.CountEndpoints(a) > 0 && !slices.ContainsFunc(a.GetEndpoints(), func(l *endpointv3.LocalityLbEndpoints) bool { return proto.Size(l.GetLocality()) > 0 })
}
