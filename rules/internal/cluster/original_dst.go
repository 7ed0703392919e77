package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "original-dst",
	Severity: lint.Error,
	Summary:  "an ORIGINAL_DST cluster has endpoints, another load balancing policy, or a header name without use_http_header",
	Links:    []string{"OriginalDstClusterFactory::createClusterImpl (source/extensions/clusters/original_dst/original_dst_cluster.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterOriginalDst {
			return
		}
		if lb := c.GetLbPolicy(); lb != clusterv3.Cluster_CLUSTER_PROVIDED {
			const provided = "CLUSTER_PROVIDED"
			fixes := lint.Replace(at.Field("lb_policy"), provided).Likely("write " + provided)
			if lb == clusterv3.Cluster_ROUND_ROBIN && len(fixes) == 0 { // the default
				fixes = lint.Insert(at, "lb_policy", provided).Likely("add lb_policy: " + provided)
			}
			p.Reject(at.Field("lb_policy"), lint.Rejection{
				Message: fmt.Sprintf("an ORIGINAL_DST cluster cannot use %s", lb),
				Help:    "write lb_policy: CLUSTER_PROVIDED",
				Upstream: fmt.Sprintf("cluster: LB policy %s is not valid for Cluster type ORIGINAL_DST. Only 'CLUSTER_PROVIDED' is allowed with cluster type 'ORIGINAL_DST'",
					lb),
				Fixes: fixes,
			})
		}
		if c.GetLoadAssignment() != nil {
			p.Reject(at.Field("load_assignment").Key(), lint.Rejection{
				Message:  "an ORIGINAL_DST cluster cannot have a load_assignment",
				Help:     "remove it, or use another type of cluster",
				Upstream: "ORIGINAL_DST clusters must have no load assignment configured",
				Fixes:    lint.Remove(at.Field("load_assignment")).Likely("remove load_assignment"),
			})
		}
		config, where := proto.Message(c.GetOriginalDstLbConfig()), at.Field("original_dst_lb_config")
		if c.GetClusterType() != nil {
			config, where = envoy.ClusterConfig(at, c)
		}
		_, named := dynamic.Value(config, "http_header_name")
		if _, used := dynamic.Value(config, "use_http_header"); named && !used {
			p.Reject(where.Field("http_header_name"), lint.Rejection{
				Message:  "http_header_name has no effect without use_http_header",
				Help:     "add use_http_header: true, or remove http_header_name",
				Upstream: "ORIGINAL_DST cluster: invalid config http_header_name and use_http_header is false",
			})
		}
	}),
})
