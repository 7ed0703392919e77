package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	dnsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dns/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "logical-dns-many",
	Severity: lint.Error,
	Summary:  "a LOGICAL_DNS cluster does not have exactly one host, or a host of a DNS cluster has a resolver_name",
	Links: []string{
		"LogicalDnsCluster::create (source/extensions/clusters/logical_dns/logical_dns_cluster.cc)",
		"StrictDnsClusterImpl (source/extensions/clusters/strict_dns/strict_dns_cluster.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		kind := "STRICT_DNS"
		switch envoy.ClusterFactory(p.Target.Extensions(), c) {
		case envoy.ClusterStrictDNS:
		case envoy.ClusterLogicalDNS:
			kind = "LOGICAL_DNS"
		case envoy.ClusterDNS:
			m, _ := envoy.ClusterConfig(at, c)
			d, ok := m.(*dnsv3.DnsCluster)
			if !ok {
				return
			}
			if d.GetAllAddressesInSingleEndpoint() {
				kind = "LOGICAL_DNS"
			}
		default:
			return
		}
		if kind == "LOGICAL_DNS" && !single(p, at, c) {
			return
		}
		for i, locality := range c.GetLoadAssignment().GetEndpoints() {
			for j, endpoint := range locality.GetLbEndpoints() {
				if endpoint.GetEndpoint().GetAddress().GetSocketAddress().GetResolverName() == "" {
					continue
				}
				socket := at.Field("load_assignment").Item("endpoints", i).Item("lb_endpoints", j).Field("endpoint", "address", "socket_address")
				p.Reject(socket.Field("resolver_name"), lint.Rejection{
					Message:  fmt.Sprintf("a %s cluster does not accept a resolver_name", kind),
					Help:     "remove it; typed_dns_resolver_config of the cluster selects the resolver",
					Upstream: kind + " clusters must NOT have a custom resolver name set",
				})
			}
		}
	}),
})

// single reports a cluster that does not have exactly one host.
func single(p *lint.Pass, at lint.At, c *clusterv3.Cluster) bool {
	assignment, hosts := c.GetLoadAssignment(), 0
	for _, locality := range assignment.GetEndpoints() {
		hosts += len(locality.GetLbEndpoints())
	}
	groups := len(assignment.GetEndpoints())
	if groups == 1 && hosts == 1 {
		return true
	}
	if hosts == 0 {
		upstream := "LOGICAL_DNS clusters must have a single host"
		if assignment != nil {
			upstream = "LOGICAL_DNS clusters must have a single locality_lb_endpoint and a single lb_endpoint"
		}
		p.Reject(at.Field("load_assignment"), lint.Rejection{
			Message:  "a LOGICAL_DNS cluster needs one endpoint",
			Help:     "add an endpoint with the name to resolve as its address",
			Upstream: upstream,
		})
		return false
	}
	count := fmt.Sprintf("%d endpoints", hosts)
	if hosts == 1 {
		count = fmt.Sprintf("%d groups of endpoints", groups)
	}
	p.Reject(at.Field("load_assignment", "endpoints"), lint.Rejection{
		Message:  "a LOGICAL_DNS cluster can have only one endpoint, but this one has " + count,
		Help:     "keep one of them, or use STRICT_DNS",
		Upstream: "LOGICAL_DNS clusters must have a single locality_lb_endpoint and a single lb_endpoint",
	})
	return false
}
