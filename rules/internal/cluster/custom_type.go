package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "custom-type",
	Severity: lint.Error,
	Summary:  "the cluster_type of a Redis cluster has a wrong name, or a reverse connection cluster has endpoints",
	Links: []string{
		"RedisClusterFactory::createClusterWithConfig (source/extensions/clusters/redis/redis_cluster.cc)",
		"RevConClusterFactory::createClusterWithConfig (source/extensions/clusters/reverse_connection/reverse_connection.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		switch envoy.ClusterFactory(p.Target.Extensions(), c) {
		case redis:
			if name := c.GetClusterType().GetName(); name != redis {
				p.Reject(at.Field("cluster_type", "name"), lint.Rejection{
					Message:  fmt.Sprintf("the cluster_type of a Redis cluster cannot be named %q", name),
					Help:     "write name: " + redis,
					Upstream: "Redis cluster can only created with redis cluster type.",
				})
			}
		case "envoy.clusters.reverse_connection":
			if c.GetLoadAssignment() != nil {
				p.Reject(at.Field("load_assignment").Key(), lint.Rejection{
					Message:  "a reverse connection cluster cannot have a load_assignment",
					Help:     "remove it",
					Upstream: "Reverse Conn clusters must have no load assignment configured",
				})
			}
		}
	}),
})

const redis = "envoy.clusters.redis"
