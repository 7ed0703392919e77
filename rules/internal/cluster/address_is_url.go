package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "address-is-url",
	Severity: lint.Error,
	Summary:  "the address of an endpoint is a URL or has a port, so it is not a name that DNS can resolve",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/address.proto#config-core-v3-socketaddress",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/service_discovery",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if !resolvesNames(envoy.ClusterFactory(p.Target.Extensions(), c)) {
			return
		}
		for i, locality := range c.GetLoadAssignment().GetEndpoints() {
			for j, e := range locality.GetLbEndpoints() {
				socket := e.GetEndpoint().GetAddress().GetSocketAddress()
				host := check.HostIn(socket.GetAddress())
				if host == "" || socket.GetResolverName() != "" {
					continue
				}
				at := at.Field("load_assignment").Item("endpoints", i).Item("lb_endpoints", j).Field("endpoint", "address", "socket_address", "address")
				p.Report(at, lint.Diagnostic{
					Message: fmt.Sprintf("%q is not a host name, so cluster %q never has a host", socket.GetAddress(), c.GetName()),
					Notes:   []string{"Envoy asks DNS for the whole text, and answers requests with 503"},
					Help:    fmt.Sprintf("write address: %s, the port as port_value, and TLS as a transport_socket", host),
					Fixes:   lint.Replace(at, host).Likely("write the host name alone"),
				})
			}
		}
	}),
})

// resolvesNames reports whether a factory makes clusters whose addresses DNS resolves.
func resolvesNames(factory string) bool {
	return factory == envoy.ClusterStrictDNS || factory == envoy.ClusterLogicalDNS || factory == envoy.ClusterDNS
}
