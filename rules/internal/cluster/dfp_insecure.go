package cluster

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	dfpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dynamic_forward_proxy/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "dfp-insecure",
	Severity: lint.Error,
	Summary:  "a dynamic forward proxy cluster would not verify its upstreams",
	Links:    []string{"ClusterFactory::createClusterWithConfig (source/extensions/clusters/dynamic_forward_proxy/cluster.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		m, configAt := envoy.ClusterConfig(at, c)
		config, ok := m.(*dfpv3.ClusterConfig)
		if !ok || envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterDFP {
			return
		}
		if config.GetSubClustersConfig().GetLbPolicy() == clusterv3.Cluster_CLUSTER_PROVIDED {
			p.Reject(configAt.Field("sub_clusters_config", "lb_policy"), lint.Rejection{
				Message:  "sub clusters do not provide a load balancer",
				Help:     "write another policy, such as ROUND_ROBIN",
				Upstream: "unsupported lb_policy 'CLUSTER_PROVIDED' in sub_cluster_config",
			})
		}
		h, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok || config.GetAllowInsecureClusterOptions() {
			return
		}
		options := h.Upstream(c)
		if options.GetAutoSni() && options.GetAutoSanValidation() || options == nil && h.Typed == nil {
			return
		}
		where := at.Field("upstream_http_protocol_options")
		switch {
		case h.Typed != nil && options == nil:
			where = h.At.Key()
		case h.Typed != nil:
			where = h.At.Field("upstream_http_protocol_options")
		}
		p.Reject(where, lint.Rejection{
			Message:  "a dynamic forward proxy cluster needs auto_sni and auto_san_validation",
			Help:     "write upstream_http_protocol_options: {auto_sni: true, auto_san_validation: true}",
			Upstream: "dynamic_forward_proxy cluster must have auto_sni and auto_san_validation true unless allow_insecure_cluster_options is set.",
		})
	}),
})
