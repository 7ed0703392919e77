package envoy_test

import (
	"net"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestLargeResponse: Envoy takes a response above 4 MiB, with which the stream of a gRPC library fails by default.
func TestLargeResponse(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	const large = 5 << 20
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, sending{cluster: &clusterv3.Cluster{Name: "large", AltStatName: strings.Repeat("x", large)}})
	go func() { _ = server.Serve(listening) }() // until Stop
	t.Cleanup(server.Stop)

	conn, err := rpc.NewClient(listening.Addr().String(), rpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&discoveryv3.DiscoveryRequest{TypeUrl: envoytest.Clusters}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the client of the library got %v", err)
	}

	e, err := envoytest.Serve(t.Context(), envoytest.Streams{}.Bootstrap(listening.Addr().String()), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	stats, err := e.Admin(t.Context(), "/stats?filter=cluster_manager.cds.update_success")
	if err != nil || strings.TrimSpace(string(stats)) != "cluster_manager.cds.update_success: 1" {
		t.Errorf("%s %v", stats, err)
	}
}

// sending answers each request for clusters with one, and all others with nothing.
type sending struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer

	cluster *clusterv3.Cluster
}

func (s sending) StreamAggregatedResources(stream rpc.BidiStreamingServer[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]) error {
	held, err := anypb.New(s.cluster)
	for err == nil {
		var request *discoveryv3.DiscoveryRequest
		if request, err = stream.Recv(); err != nil || request.GetResponseNonce() != "" {
			continue
		}
		response := &discoveryv3.DiscoveryResponse{VersionInfo: "1", Nonce: "1", TypeUrl: request.GetTypeUrl()}
		if request.GetTypeUrl() == envoytest.Clusters {
			response.Resources = append(response.Resources, held)
		}
		err = stream.Send(response)
	}
	return err
}
