package endpoint

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unusable-address",
	Severity: lint.Error,
	Summary:  "an endpoint of a STATIC or EDS cluster does not have an address, or Envoy cannot connect to it",
	Links: []string{
		"resolveProtoAddress (source/common/network/resolver_impl.cc)",
		"HostDescriptionImplBase (source/common/upstream/upstream_impl.cc)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		c, ok := clusterOf(at)
		if !ok || c != nil && envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterStatic {
			return
		}
		for i, locality := range a.GetEndpoints() {
			for j, lb := range locality.GetLbEndpoints() {
				checkEndpoint(p, at.Item("endpoints", i).Item("lb_endpoints", j), lb.GetEndpoint())
			}
		}
	}),
})

func checkEndpoint(p *lint.Pass, at lint.At, e *endpointv3.Endpoint) {
	if e != nil {
		at = at.Field("endpoint")
	}
	checkAddress(p, at, e.GetAddress())
	check := e.GetHealthCheckConfig()
	if port := check.GetPortValue(); port != 0 && e.GetAddress().GetAddress() != nil && e.GetAddress().GetSocketAddress() == nil {
		p.Reject(at.Field("health_check_config", "port_value"), lint.Rejection{
			Message:  "port_value needs an endpoint whose address has a port",
			Help:     "remove it",
			Upstream: "Invalid host configuration: non-zero port for non-IP address",
		})
	}
	if check.GetAddress() != nil {
		checkAddress(p, at.Field("health_check_config"), check.GetAddress())
	}
	for i, more := range e.GetAdditionalAddresses() {
		checkAddress(p, at.Item("additional_addresses", i), more.GetAddress())
	}
	if len(e.GetAdditionalAddresses()) > 0 && p.Target.Before("1.38") {
		checkIP(p, at.Field("address"), e.GetAddress())
		for i, more := range e.GetAdditionalAddresses() {
			checkIP(p, at.Item("additional_addresses", i).Field("address"), more.GetAddress())
		}
	}
}

// checkIP reports an address that is not an IP address. Until 1.37, an endpoint with several addresses could have only IP addresses.
func checkIP(p *lint.Pass, at lint.At, a *corev3.Address) {
	if a.GetAddress() != nil && a.GetSocketAddress() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "before Envoy 1.38, an endpoint with additional_addresses can have only IP addresses",
			Help:     "write a socket_address, or make it a separate endpoint",
			Upstream: "additional_addresses must be IP addresses.",
		})
	}
}

// checkAddress reports an invalid address of the message at a place.
func checkAddress(p *lint.Pass, at lint.At, a *corev3.Address) {
	if a == nil && check.UnderUnknownKey(at.Resource(), at.Path(), "address") {
		return
	}
	if a == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the address is missing",
			Help:     "write address: {socket_address: {address: …, port_value: …}}",
			Upstream: "Address must be set",
		})
		return
	}
	if s := a.GetSocketAddress(); s.GetResolverName() != "" || s.GetNamedPort() != "" || s.GetNetworkNamespaceFilepath() != "" {
		checkSocket(p, at.Field("address", "socket_address"), s)
	}
	if pipe := a.GetPipe(); pipe != nil {
		check.Pipe(p, at.Field("address", "pipe"), pipe)
	}
}

func checkSocket(p *lint.Pass, at lint.At, s *corev3.SocketAddress) {
	if !check.Specifier(p, at, s) && s.GetNetworkNamespaceFilepath() != "" {
		p.Reject(at.Field("network_namespace_filepath"), lint.Rejection{
			Message:  "an endpoint cannot have a network namespace",
			Help:     "remove it: it is for listeners",
			Upstream: "Invalid host configuration: hosts cannot specify network namespaces with their address",
		})
	}
}
