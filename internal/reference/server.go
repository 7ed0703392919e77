package reference

import (
	"context"
	"fmt"
	"io"
	"net"

	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/pull"
)

// Server serves a store over gRPC.
type Server struct {
	Address string // host:port
	grpc    *grpc.Server
}

// Serve serves a store at an address, such as 127.0.0.1:0.
func Serve(s *Store, address string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return ServeOn(s, l), nil
}

// ServeOn serves a store to the connections of a listener.
func ServeOn(s *Store, l net.Listener) *Server {
	out := &Server{Address: l.Addr().String(), grpc: grpc.NewServer(grpc.WaitForHandlers(true))}
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(out.grpc, aggregated{Store: s})
	clusterservice.RegisterClusterDiscoveryServiceServer(out.grpc, clusters{Store: s})
	endpointservice.RegisterEndpointDiscoveryServiceServer(out.grpc, endpoints{Store: s})
	listenerservice.RegisterListenerDiscoveryServiceServer(out.grpc, listeners{Store: s})
	routeservice.RegisterRouteDiscoveryServiceServer(out.grpc, routes{Store: s})
	go func() { _ = out.grpc.Serve(l) }() // until Stop
	return out
}

// Memory returns a listener without a network, and how to connect to it. The time of a bubble of testing/synctest does not
// wait for it.
func Memory() (net.Listener, pull.Server) {
	l := bufconn.Listen(1 << 16)
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }
	return l, pull.Server{Address: "passthrough:///memory", Connect: dial}
}

// Stop ends all streams.
func (s *Server) Stop() { s.grpc.Stop() }

type (
	sotwStream  = grpc.BidiStreamingServer[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]
	deltaStream = grpc.BidiStreamingServer[discoveryv3.DeltaDiscoveryRequest, discoveryv3.DeltaDiscoveryResponse]
)

// stream runs a session until the client ends it.
func stream[Q, P any](s *Store, st grpc.BidiStreamingServer[Q, P], typeURL string, delta bool) error {
	session := s.Open(typeURL, delta)
	if c, ok := session.(io.Closer); ok {
		defer c.Close()
	}
	changed, stop := s.watch()
	defer stop()
	requests := make(chan *Q)
	go func() {
		defer close(requests)
		for {
			q, err := st.Recv()
			if err != nil {
				return
			}
			select {
			case requests <- q:
			case <-st.Context().Done():
				return
			}
		}
	}()
	for {
		var out []proto.Message
		select {
		case q, open := <-requests:
			if !open {
				return nil
			}
			out = session.Request(any(q).(proto.Message))
		case <-changed:
			out = session.Changed()
		}
		for _, m := range out {
			p, ok := any(m).(*P)
			if !ok {
				return fmt.Errorf("a session returns a %T", m)
			}
			if err := st.Send(p); err != nil {
				return err
			}
		}
	}
}

type aggregated struct {
	*Store
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
}

func (s aggregated) StreamAggregatedResources(st sotwStream) error {
	return stream(s.Store, st, "", false)
}

func (s aggregated) DeltaAggregatedResources(st deltaStream) error {
	return stream(s.Store, st, "", true)
}

type clusters struct {
	*Store
	clusterservice.UnimplementedClusterDiscoveryServiceServer
}

func (s clusters) StreamClusters(st sotwStream) error { return stream(s.Store, st, Clusters, false) }

func (s clusters) DeltaClusters(st deltaStream) error { return stream(s.Store, st, Clusters, true) }

type endpoints struct {
	*Store
	endpointservice.UnimplementedEndpointDiscoveryServiceServer
}

func (s endpoints) StreamEndpoints(st sotwStream) error { return stream(s.Store, st, Endpoints, false) }

func (s endpoints) DeltaEndpoints(st deltaStream) error { return stream(s.Store, st, Endpoints, true) }

type listeners struct {
	*Store
	listenerservice.UnimplementedListenerDiscoveryServiceServer
}

func (s listeners) StreamListeners(st sotwStream) error { return stream(s.Store, st, Listeners, false) }

func (s listeners) DeltaListeners(st deltaStream) error { return stream(s.Store, st, Listeners, true) }

type routes struct {
	*Store
	routeservice.UnimplementedRouteDiscoveryServiceServer
}

func (s routes) StreamRoutes(st sotwStream) error { return stream(s.Store, st, Routes, false) }

func (s routes) DeltaRoutes(st deltaStream) error { return stream(s.Store, st, Routes, true) }
