package pull_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/pull"
)

// TestSeparateStreams: a server without aggregated streams is asked over a stream for each type that it has.
func TestSeparateStreams(t *testing.T) {
	xds := &corev3.ConfigSource{ResourceApiVersion: corev3.ApiVersion_V3, ConfigSourceSpecifier: &corev3.ConfigSource_ApiConfigSource{
		ApiConfigSource: &corev3.ApiConfigSource{ApiType: corev3.ApiConfigSource_GRPC, GrpcServices: []*corev3.GrpcService{{
			TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: "xds"}},
		}}},
	}}
	snapshot, err := cachev3.NewSnapshot("1", map[resource.Type][]types.Resource{
		resource.ClusterType: {&clusterv3.Cluster{
			Name: "shop", ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS}, EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: xds},
		}},
		resource.EndpointType: {&endpointv3.ClusterLoadAssignment{ClusterName: "shop"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cp := newControlPlane(t, snapshot, false)
	address := serving(t, func(s *grpc.Server) {
		clusterservice.RegisterClusterDiscoveryServiceServer(s, cp.server)
		endpointservice.RegisterEndpointDiscoveryServiceServer(s, cp.server)
	})
	for name, ask := range map[string]func(context.Context, pull.Server, pull.Request) (*pull.Result, error){"SotW": pull.SotW, "Delta": pull.Delta} {
		t.Run(name, func(t *testing.T) {
			if err := cp.cache.SetSnapshot(t.Context(), "n", snapshot); err != nil {
				t.Fatal(err)
			}
			got, err := ask(t.Context(), pull.Server{Address: address}, node("n"))
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, set := range got.Sets {
				for _, r := range set.Resources {
					have = append(have, string(set.Kind)+"/"+r.Name)
				}
			}
			slices.Sort(have)
			if want := []string{string(graph.Cluster) + "/shop", string(graph.ClusterLoadAssignment) + "/shop"}; !slices.Equal(have, want) {
				t.Errorf("%v, not %v", have, want)
			}
			notes := strings.Join(got.Notes(), "\n")
			want := "the server does not have a stream for listener: unknown service envoy.service.listener.v3.ListenerDiscoveryService\n" +
				"the server does not have aggregated streams: each type was requested over a stream of its own"
			if notes != want {
				t.Errorf("notes:\n%s", notes)
			}
		})
	}
}

// serving serves what is registered on a port of this machine.
func serving(t *testing.T, register func(*grpc.Server), options ...grpc.ServerOption) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, register, options...)
	return l.Addr().String()
}

// serveOn serves to the connections of a listener until the test has ended.
func serveOn(t *testing.T, l net.Listener, register func(*grpc.Server), options ...grpc.ServerOption) {
	t.Helper()
	s := grpc.NewServer(options...)
	register(s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() { s.Stop(); <-done })
}
