package conform_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/conform"
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

// TestFlood: a server that is never silent is tested in a bounded time.
func TestFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := start(t, func(s *grpc.Server) { discoveryv3.RegisterAggregatedDiscoveryServiceServer(s, flood{}) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		report, err := conform.Run(ctx, server, conform.Options{Node: edge}.Only("sotw-ads"))
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Notes) == 0 {
			t.Error("the report does not note that the server does not read")
		}
	})
}
