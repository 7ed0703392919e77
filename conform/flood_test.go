package conform_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/pull"
)

// flood is a server that sends without an end, and does not read what clients answer.
type flood struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
}

func (flood) StreamAggregatedResources(s discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	request, err := s.Recv()
	if err != nil {
		return err
	}
	body, err := anypb.New(&clusterv3.Cluster{Name: "shop"})
	for n := 0; err == nil; n++ {
		err = s.Send(&discoveryv3.DiscoveryResponse{VersionInfo: strconv.Itoa(n), Nonce: strconv.Itoa(n), TypeUrl: request.GetTypeUrl(), Resources: []*anypb.Any{body}})
	}
	return err
}

// TestFlood: a server that is never silent is tested in a bounded time. A busy machine gets more time for the first answer.
func TestFlood(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, flood{})
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var report *conform.Report
	for wait := 50 * time.Millisecond; ; wait *= 10 {
		if report, err = conform.Run(ctx, pull.Server{Address: l.Addr().String()}, conform.Options{Node: edge, Wait: wait}.Only("sotw-ads")); err == nil {
			break
		}
		if wait > time.Second {
			t.Fatal(err)
		}
	}
	if len(report.Notes) == 0 {
		t.Error("the report does not note that the server does not read")
	}
}
