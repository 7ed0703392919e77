package envoy

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/dynamic"
)

// EachTransportSocket calls f for the configuration of every transport socket of a cluster, including those inside of others. It skips
// configurations whose type is not known.
func EachTransportSocket(at graph.At, c *clusterv3.Cluster, f func(at graph.At, m proto.Message)) {
	eachSocket(at.Field("transport_socket"), c.GetTransportSocket(), f)
	eachMatching(at, c, f)
}

// EachUsedSocket is EachTransportSocket without a transport_socket that may be for no endpoint, because all have others.
func EachUsedSocket(at graph.At, c *clusterv3.Cluster, f func(at graph.At, m proto.Message)) {
	if usesDefault(c) {
		eachSocket(at.Field("transport_socket"), c.GetTransportSocket(), f)
	}
	eachMatching(at, c, f)
}

func eachMatching(at graph.At, c *clusterv3.Cluster, f func(at graph.At, m proto.Message)) {
	for i, match := range c.GetTransportSocketMatches() {
		eachSocket(at.Item("transport_socket_matches", i).Field("transport_socket"), match.GetTransportSocket(), f)
	}
}

func eachSocket(at graph.At, s *corev3.TransportSocket, f func(at graph.At, m proto.Message)) {
	m, at := Content(at.Field("typed_config"), s.GetTypedConfig())
	if m == nil {
		return
	}
	f(at, m)
	if inner, ok := dynamic.Sub(m, "transport_socket").(*corev3.TransportSocket); ok {
		eachSocket(at.Field("transport_socket"), inner, f)
	}
}

// usesDefault reports whether it is certain that an endpoint of a cluster uses transport_socket.
func usesDefault(c *clusterv3.Cluster) bool {
	if len(c.GetTransportSocketMatches()) == 0 {
		return true
	}
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		if slices.ContainsFunc(locality.GetLbEndpoints(), func(e *endpointv3.LbEndpoint) bool { return UsesDefaultSocket(c, locality, e) }) {
			return true
		}
	}
	return false
}

// SocketMatchKey is the key of the metadata by which an endpoint or its locality selects a transport socket.
const SocketMatchKey = "envoy.transport_socket_match"

// UsesDefaultSocket reports whether none of transport_socket_matches is for an endpoint or its locality (TransportSocketMatcherImpl::resolve in
// source/common/upstream/transport_socket_match_impl.cc).
func UsesDefaultSocket(c *clusterv3.Cluster, locality *endpointv3.LocalityLbEndpoints, e *endpointv3.LbEndpoint) bool {
	own, around := e.GetMetadata().GetFilterMetadata()[SocketMatchKey], locality.GetMetadata().GetFilterMetadata()[SocketMatchKey]
	return !slices.ContainsFunc(c.GetTransportSocketMatches(), func(m *clusterv3.Cluster_TransportSocketMatch) bool {
		return contains(own, m.GetMatch()) || contains(around, m.GetMatch())
	})
}

// contains reports whether a struct has all fields of another one with the same values.
func contains(has, wanted *structpb.Struct) bool {
	for key, value := range wanted.GetFields() {
		if !proto.Equal(has.GetFields()[key], value) {
			return false
		}
	}
	return true
}

// VerifiesPeer reports whether a TLS context may verify the certificate of its peer. If it does not, Envoy accepts any certificate, and none.
func VerifiesPeer(c *tlsv3.CommonTlsContext) bool {
	if c.GetValidationContextType() != nil && c.GetValidationContext() == nil || c.GetCustomHandshaker() != nil {
		return true // what SDS or an extension says is not known
	}
	v := c.GetValidationContext()
	return v.GetTrustedCa() != nil || v.GetCaCertificateProviderInstance() != nil || v.GetSystemRootCerts() != nil || v.GetCustomValidatorConfig() != nil ||
		len(v.GetVerifyCertificateHash())+len(v.GetVerifyCertificateSpki()) > 0
}
