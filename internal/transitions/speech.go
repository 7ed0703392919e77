package transitions

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// listenIn records which protocols the clusters of a snapshot use with their endpoints. An upstream accepts nothing else, so an upstream with TLS fails
// for a cluster without it.
func (p *place) listenIn(s *graph.Snapshot) {
	assigned := map[string][]*endpointv3.ClusterLoadAssignment{}
	for _, r := range s.Resources {
		if a, ok := r.Message.(*endpointv3.ClusterLoadAssignment); ok {
			assigned[a.GetClusterName()] = append(assigned[a.GetClusterName()], a)
		}
	}
	for _, r := range s.Resources {
		each(r.Message, func(c *clusterv3.Cluster) {
			secure := false
			each(c, func(*tlsv3.UpstreamTlsContext) { secure = true })
			name := c.GetEdsClusterConfig().GetServiceName()
			if name == "" {
				name = c.GetName()
			}
			p.speak(c, secure)
			for _, a := range assigned[name] {
				p.speak(a, secure)
			}
		})
	}
}

func (p *place) speak(m proto.Message, secure bool) {
	each(m, func(e *endpointv3.Endpoint) {
		key := addressKey(e.GetAddress().GetSocketAddress())
		takes := p.speeches[key]
		takes.tls = takes.tls || secure
		takes.plain = takes.plain || !secure
		p.speeches[key] = takes
	})
}
