package cluster

import (
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "eds-config",
	Severity: lint.Error,
	Summary:  "an EDS cluster does not have a source for its endpoints, or a cluster of another type has one",
	Links: []string{
		"EdsClusterFactory::createClusterImpl (source/extensions/clusters/eds/eds.cc)",
		"ClusterInfoImpl::ClusterInfoImpl (source/common/upstream/upstream_impl.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		own := c.GetEdsClusterConfig()
		eds := envoy.ClusterFactory(p.Target.Extensions(), c) == envoy.ClusterEDS
		switch {
		case own != nil && (c.GetClusterType() != nil || c.GetType() != clusterv3.Cluster_EDS):
			p.Reject(at.Field("eds_cluster_config").Key(), lint.Rejection{
				Message:  "only a cluster of type EDS can have an eds_cluster_config",
				Help:     "write type: EDS, or remove eds_cluster_config",
				Upstream: "eds_cluster_config set in a non-EDS cluster",
			})
		case own == nil && eds:
			p.Reject(at.Field("type"), lint.Rejection{
				Message:  "an EDS cluster needs an eds_cluster_config",
				Help:     "write eds_cluster_config: {eds_config: {resource_api_version: V3, ads: {}}}, or another source",
				Upstream: "cannot create an EDS cluster without an EDS config",
			})
		case eds && own.GetEdsConfig() == nil && !hasAuthority(p, c):
			p.Reject(at.Field("eds_cluster_config").Key(), lint.Rejection{
				Message:  "the eds_cluster_config does not have a source for the endpoints",
				Help:     "write eds_config: {resource_api_version: V3, ads: {}}, or another source",
				Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
			})
		}
	}),
})

// hasAuthority reports whether the endpoints may come from the server of an xdstp authority.
func hasAuthority(p *lint.Pass, c *clusterv3.Cluster) bool {
	name := c.GetEdsClusterConfig().GetServiceName()
	if name == "" {
		name = c.GetName()
	}
	if !strings.HasPrefix(name, "xdstp:") {
		return false
	}
	b, _ := p.Snapshot.Bootstrap()
	return b == nil || len(b.GetConfigSources()) > 0 || b.GetDefaultConfigSource() != nil
}
