package grpc

import (
	"fmt"
	"net/netip"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	gcpauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/gcp_authn/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// Metadata checks the metadata that gRPC reads (validateAndConstructMetadata, gRFCs A83 and A86): the audience of a cluster, and the proxy of
// an endpoint. Both are off by default.
func (c Client) Metadata(at graph.At, resource proto.Message) (all []Fault) {
	switch m := resource.(type) {
	case *clusterv3.Cluster:
		if c.is(Core) || c.enabled(gcpAuthn, false) {
			return c.metadata(at, m.GetMetadata())
		}
	case *endpointv3.ClusterLoadAssignment:
		for i, l := range m.GetEndpoints() {
			if l.GetLoadBalancingWeight().GetValue() > 0 {
				all = append(all, c.localityMetadata(at.Item("endpoints", i), l)...)
			}
		}
	}
	return all
}

func (c Client) localityMetadata(at graph.At, l *endpointv3.LocalityLbEndpoints) (all []Fault) {
	proxied := c.enabled(httpConnect, false)
	if proxied {
		all = c.metadata(at, l.GetMetadata())
	}
	for i, e := range l.GetLbEndpoints() {
		if proxied || !c.enabled(hashKeyCompat, false) {
			all = append(all, c.metadata(at.Item("lb_endpoints", i), e.GetMetadata())...)
		}
	}
	return all
}

func (c Client) metadata(at graph.At, m *corev3.Metadata) (all []Fault) {
	for _, o := range entries(at.Field("metadata"), "typed_filter_metadata", m.GetTypedFilterMetadata()) {
		if audience, ok := content[*gcpauthnv3.Audience](o.at, o.any); ok && audience.GetUrl() == "" && (c.is(Core) || c.enabled(gcpAuthn, false)) {
			all = append(all, rejected(o.at, "the audience has no url", "empty url field in audience metadata", "write the URL of the service")...)
		}
		if address, ok := content[*corev3.Address](o.at, o.any); ok && c.is(Go) && c.enabled(httpConnect, false) {
			all = append(all, proxy(o.at, address.GetSocketAddress())...)
		}
	}
	return all
}

// proxy checks the address of a proxy (proxyAddressConverter.convert).
func proxy(at graph.At, socket *corev3.SocketAddress) []Fault {
	const help = "write a socket_address with an IP address and a port_value"
	_, err := netip.ParseAddr(socket.GetAddress())
	switch {
	case socket == nil:
		return rejected(at, "the proxy has no socket_address", "no socket_address field in metadata", help)
	case err != nil:
		return rejected(at, fmt.Sprintf("the proxy is %q and not an IP address", socket.GetAddress()), "address field is not a valid IPv4 or IPv6 address", help)
	case socket.GetPortValue() == 0:
		return rejected(at, "the proxy has no port", "port value not set in socket_address", help)
	}
	return nil
}
