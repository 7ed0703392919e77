package envoy

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/dynamic"
)

// EachTransportSocket calls f for the configuration of every transport socket of a cluster, including those inside of others. It skips
// configurations whose type is not known.
func EachTransportSocket(at graph.At, c *clusterv3.Cluster, f func(at graph.At, m proto.Message)) {
	eachSocket(at.Field("transport_socket"), c.GetTransportSocket(), f)
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
