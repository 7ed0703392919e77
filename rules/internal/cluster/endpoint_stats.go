package cluster

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "endpoint-stats",
	Severity: lint.Error,
	Summary:  "a cluster has statistics per endpoint, but its Envoy reports load",
	Links:    []string{"ClusterInfoImpl::ClusterInfoImpl (source/common/upstream/upstream_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if !c.GetTrackClusterStats().GetPerEndpointStats() {
			return
		}
		if b, r := p.Snapshot.Bootstrap(); b.GetClusterManager().GetLoadStatsConfig() != nil {
			p.Reject(at.Field("track_cluster_stats", "per_endpoint_stats"), lint.Rejection{
				Message:  "statistics per endpoint cannot be combined with the load reports of this Envoy",
				Help:     "remove it, or load_stats_config in the bootstrap",
				Upstream: "Only one of cluster per_endpoint_stats and cluster manager load_stats_config can be specified",
				Related:  []lint.Related{lint.RelatedTo(r.At().Field("cluster_manager", "load_stats_config"), "the load reports")},
			})
		}
	}),
})
