package endpoint

import (
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "leds-conflict",
	Severity: lint.Error,
	Summary:  "a locality gets its endpoints over LEDS, but also lists endpoints or is in a STATIC cluster",
	Links: []string{
		"EdsClusterImpl::onConfigUpdate (source/extensions/clusters/eds/eds.cc)",
		"StaticClusterFactory::createClusterImpl (source/extensions/clusters/static/static_cluster.cc)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		c, ok := clusterOf(at)
		if !ok || c != nil && envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterStatic {
			return
		}
		for i, locality := range a.GetEndpoints() {
			at := at.Item("endpoints", i).Field("leds_cluster_locality_config").Key()
			switch {
			case locality.GetLedsClusterLocalityConfig() == nil:
			case c != nil:
				p.Reject(at, lint.Rejection{
					Message:  "a STATIC cluster cannot get endpoints over LEDS",
					Help:     "write the endpoints, or use type: EDS",
					Upstream: "LEDS is only supported when EDS is used. Static cluster cannot use LEDS.",
				})
			case len(locality.GetLbEndpoints()) > 0:
				p.Reject(at, lint.Rejection{
					Message:  "a locality lists its endpoints or gets them over LEDS, not both",
					Help:     "remove lb_endpoints or leds_cluster_locality_config",
					Upstream: "A ClusterLoadAssignment cannot include both LEDS and a list of endpoints.",
				})
			}
		}
	}),
})
