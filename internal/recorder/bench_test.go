package recorder_test

import (
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

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
	proxy, _, _, recorded := record(b, server.Address)
	defer proxy.Stop()
	for name, addr := range map[string]string{"direct": server.Address, "recorded": recorded} {
		b.Run(name, func(b *testing.B) {
			s, err := reference.Subscribe(b.Context(), addr, reference.Endpoints, "shop")
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			for b.Loop() {
				if _, err := s.Ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
