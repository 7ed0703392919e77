package grpctest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"
)

// The types of resources that a client asks for.
const (
	listenerType = "type.googleapis.com/envoy.config.listener.v3.Listener"
	routeType    = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
	clusterType  = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	endpointType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
)

// server is a management server that answers each request for names with what serve returns. A test may push a response of its own.
type server struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	serve   func(typeURL, name string) *anypb.Any
	grpc    *grpc.Server
	address string

	mu      sync.Mutex
	stream  discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer
	nonces  int
	names   map[string][]string // asked for, by type
	sent    map[string]string   // the last nonces, by type
	acked   map[string]string
	waiting map[string]chan *discoveryv3.DiscoveryRequest
	ready   chan struct{} // closed when all types were asked for
}

func listen(serve func(typeURL, name string) *anypb.Any) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{
		serve: serve, grpc: grpc.NewServer(), address: l.Addr().String(), names: map[string][]string{}, sent: map[string]string{}, acked: map[string]string{},
		waiting: map[string]chan *discoveryv3.DiscoveryRequest{}, ready: make(chan struct{}),
	}
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(s.grpc, s)
	go func() { _ = s.grpc.Serve(l) }()
	return s, nil
}

// StreamAggregatedResources answers one client.
func (s *server) StreamAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	s.mu.Lock()
	s.stream = stream
	s.mu.Unlock()
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := s.answer(request); err != nil {
			return err
		}
	}
}

func (s *server) answer(request *discoveryv3.DiscoveryRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.waiting[request.GetResponseNonce()]; waiting != nil {
		waiting <- request
		delete(s.waiting, request.GetResponseNonce())
	}
	kind := request.GetTypeUrl()
	s.acked[kind] = request.GetResponseNonce()
	if slices.Equal(s.names[kind], request.GetResourceNames()) {
		return nil
	}
	s.names[kind] = request.GetResourceNames()
	if len(s.names) == 4 {
		select {
		case <-s.ready:
		default:
			close(s.ready)
		}
	}
	return s.send(kind, s.own(kind), s.nonce())
}

// own returns the resources that the client asked for.
func (s *server) own(kind string) (all []*anypb.Any) {
	for _, name := range s.names[kind] {
		if any := s.serve(kind, name); any != nil {
			all = append(all, any)
		}
	}
	return all
}

// repeat sends all that the client asked for once more, each second. A client that drops a resource and wants it again may send a request that looks
// like an acknowledgement, so that nothing else would answer it.
func (s *server) repeat(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		s.mu.Lock()
		for kind := range s.names {
			_ = s.send(kind, s.own(kind), s.nonce()) // without a client, there is nothing to send
		}
		s.mu.Unlock()
	}
}

func (s *server) nonce() string {
	s.nonces++
	return strconv.Itoa(s.nonces)
}

func (s *server) send(kind string, resources []*anypb.Any, nonce string) error {
	s.sent[kind] = nonce
	return s.stream.Send(&discoveryv3.DiscoveryResponse{TypeUrl: kind, VersionInfo: nonce, Nonce: nonce, Resources: resources})
}

// push sends a resource, and the client's own ones with it, since a client takes those of some types that are not in a response for
// deleted. It returns where the answer arrives.
func (s *server) push(kind string, resource *anypb.Any) (<-chan *discoveryv3.DiscoveryRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return nil, fmt.Errorf("no client has connected")
	}
	nonce, answer := s.nonce(), make(chan *discoveryv3.DiscoveryRequest, 1)
	s.waiting[nonce] = answer
	return answer, s.send(kind, append(s.own(kind), resource), nonce)
}
