package endpoint

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	dnsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dns/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "local-priority",
	Severity: lint.Error,
	Summary:  "the local cluster has endpoints of a lower priority",
	Links:    []string{"ClusterImplBase::validateEndpoints (source/common/upstream/upstream_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		c, ok := clusterOf(at)
		name := localCluster(p)
		if !ok || name == "" || c == nil && !servesEDS(p, name, a.GetClusterName()) || c != nil && (c.GetName() != name || !ranks(p, at, c)) {
			return
		}
		for i, locality := range a.GetEndpoints() {
			if priority := locality.GetPriority(); priority > 0 {
				p.Reject(at.Item("endpoints", i).Field("priority"), lint.Rejection{
					Message:  fmt.Sprintf("the local cluster %q has endpoints of priority %d, but only priority 0 is allowed", name, priority),
					Help:     "remove the priority, or local_cluster_name in the bootstrap",
					Upstream: fmt.Sprintf("Unexpected non-zero priority for local cluster '%s'.", name),
				})
			}
		}
	}),
})

func localCluster(p *lint.Pass) string {
	b, _ := p.Snapshot.Bootstrap()
	return b.GetClusterManager().GetLocalClusterName()
}

// servesEDS reports whether an EDS cluster requests its endpoints by a name.
func servesEDS(p *lint.Pass, cluster, service string) bool {
	for _, r := range p.Snapshot.Named(graph.Cluster, cluster) {
		c, ok := r.Message.(*clusterv3.Cluster)
		if !ok || c.GetName() != cluster || envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterEDS {
			continue
		}
		if own := c.GetEdsClusterConfig().GetServiceName(); own == service || own == "" && cluster == service {
			return true
		}
	}
	return false
}

// ranks reports whether the endpoints of a cluster have priorities when Envoy validates them.
func ranks(p *lint.Pass, assignment lint.At, c *clusterv3.Cluster) bool {
	switch envoy.ClusterFactory(p.Target.Extensions(), c) {
	case envoy.ClusterStatic, envoy.ClusterStrictDNS:
		return true
	case envoy.ClusterDNS:
		m, _ := envoy.ClusterConfig(assignment.Place.Parent.At(), c)
		d, ok := m.(*dnsv3.DnsCluster)
		return ok && !d.GetAllAddressesInSingleEndpoint()
	}
	return false
}
