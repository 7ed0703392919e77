package recorder_test

import (
	"net"
	"path/filepath"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/xdslint/xdslint/internal/recorder"
	"github.com/xdslint/xdslint/internal/recording"
	"github.com/xdslint/xdslint/internal/reference"
)

// BenchmarkRoundTrip measures a request and its response, with and without the proxy.
func BenchmarkRoundTrip(b *testing.B) {
	store := reference.NewStore()
	store.Set("shop", &endpointv3.ClusterLoadAssignment{ClusterName: "shop"})
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	out, err := recording.Create(filepath.Join(b.TempDir(), "xds.jsonl"), recording.PartSize)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	proxy := recorder.New(server.Address, insecure.NewCredentials(), out)
	go func() { _ = proxy.Serve(l) }() // until Stop
	defer proxy.Stop()
	for name, addr := range map[string]string{"direct": server.Address, "recorded": l.Addr().String()} {
		b.Run(name, func(b *testing.B) {
			conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			st, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			q := &discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: "edge-1"}, TypeUrl: reference.Endpoints, ResourceNames: []string{"shop"}}
			for b.Loop() {
				if err := st.Send(q); err != nil {
					b.Fatal(err)
				}
				p, err := st.Recv()
				if err != nil {
					b.Fatal(err)
				}
				q.ResponseNonce, q.VersionInfo = p.GetNonce(), p.GetVersionInfo()
				if err := st.Send(q); err != nil { // the ACK
					b.Fatal(err)
				}
			}
		})
	}
}
