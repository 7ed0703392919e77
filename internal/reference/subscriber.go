package reference

import (
	"context"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Subscriber is a client with one aggregated stream of SotW.
type Subscriber struct {
	conn    *grpc.ClientConn
	stream  grpc.BidiStreamingClient[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]
	request *discoveryv3.DiscoveryRequest
}

// Subscribe opens a stream to a server, for resources of a type.
func Subscribe(ctx context.Context, address, typeURL string, names ...string) (*Subscriber, error) {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	s := &Subscriber{conn: conn, request: &discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: "edge-1"}, TypeUrl: typeURL, ResourceNames: names}}
	if s.stream, err = discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}

// Ask sends a request, waits for the response and ACKs it. It returns the nonce.
func (s *Subscriber) Ask() (nonce string, err error) {
	if err := s.stream.Send(s.request); err != nil {
		return "", err
	}
	p, err := s.stream.Recv()
	if err != nil {
		return "", err
	}
	s.request.ResponseNonce, s.request.VersionInfo = p.GetNonce(), p.GetVersionInfo()
	return p.GetNonce(), s.stream.Send(s.request)
}

// Close ends the stream.
func (s *Subscriber) Close() error { return s.conn.Close() }
