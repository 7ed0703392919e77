package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "hostname-in-static",
	Severity: lint.Error,
	Summary:  "an endpoint of a STATIC or EDS cluster has a host name instead of an IP address",
	Links:    []string{"ClusterImplBase::resolveProtoAddress (source/common/upstream/upstream_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		help := "let the EDS server send IP addresses"
		if at.Place.Parent != nil {
			c, ok := at.Place.Parent.Message.Interface().(*clusterv3.Cluster)
			if !ok || envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterStatic {
				return
			}
			help = "write its IP address, or change the cluster to type: STRICT_DNS"
		} else if at.Resource().Kind != graph.ClusterLoadAssignment {
			return
		}
		for i, locality := range a.GetEndpoints() {
			for j, lb := range locality.GetLbEndpoints() {
				checkEndpoint(p, at.Item("endpoints", i).Item("lb_endpoints", j).Field("endpoint"), lb.GetEndpoint(), help)
			}
		}
	}),
})

func checkEndpoint(p *lint.Pass, at lint.At, e *endpointv3.Endpoint, help string) {
	checkAddress(p, at.Field("address"), e.GetAddress(), help)
	for i, more := range e.GetAdditionalAddresses() {
		checkAddress(p, at.Item("additional_addresses", i).Field("address"), more.GetAddress(), help)
	}
	if own := e.GetHealthCheckConfig().GetAddress(); own != nil {
		checkAddress(p, at.Field("health_check_config", "address"), own, "write its IP address, and the host name in health_check_config.hostname")
	}
}

// checkAddress reports an address that the IP resolver rejects. Another resolver may accept any address.
func checkAddress(p *lint.Pass, at lint.At, a *corev3.Address, help string) {
	s := a.GetSocketAddress()
	if s == nil || s.GetAddress() == "" || s.GetResolverName() != "" && s.GetResolverName() != "envoy.ip" {
		return
	}
	if !envoy.MalformedIP(s.GetAddress()) {
		return
	}
	p.Reject(at.Field("socket_address", "address"), lint.Rejection{
		Message: fmt.Sprintf("%q is not an IP address", s.GetAddress()),
		Help:    check.ValueHelp(s.GetAddress(), help),
		Upstream: fmt.Sprintf("malformed IP address: %s. Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'",
			s.GetAddress()),
	})
}
