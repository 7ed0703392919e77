package apply

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// TestChannels: a real client of grpc-go, which sends RPCs without a break, loses none while its channels move from cluster to cluster and back.
func TestChannels(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p := newPlane(t, lint.ADSSotW)
	address := echo(t)
	blue, green := channels(ctx, t, "blue", address), channels(ctx, t, "green", address)
	options := Options{Tracker: p.tracker, Plan: plan.Options{Family: dataplane.GRPC}}
	if err := Run(ctx, p.cache, "client", nil, blue, options); err != nil {
		t.Fatal(err)
	}
	conn := channel(t, p.address)
	invoke := func() error {
		return conn.Invoke(ctx, "/shop.Orders/Get", &emptypb.Empty{}, &emptypb.Empty{})
	}
	if err := invoke(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := invoke(); err != nil && ctx.Err() == nil {
					t.Errorf("an RPC fails: %v", err)
					return
				}
			}
		})
	}
	for _, s := range []*cachev3.Snapshot{green, blue} {
		if err := Run(ctx, p.cache, "client", nil, s, options); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	callers.Wait()
}

// echo starts a server that answers each RPC.
func echo(t *testing.T) *net.TCPAddr {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		m := &emptypb.Empty{}
		if err := stream.RecvMsg(m); err != nil {
			return err
		}
		return stream.SendMsg(m)
	}))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().(*net.TCPAddr)
}

// channel returns a channel of a client that gets its configuration from a control plane.
func channel(t *testing.T, plane string) *grpc.ClientConn {
	resolver, err := xds.NewXDSResolverWithConfigForTesting(fmt.Appendf(nil, `{
		"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}]}], "node": {"id": "client"}}`, plane))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("xds:///orders.shop", grpc.WithResolvers(resolver), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// channels returns the snapshot of a client whose RPCs go to a cluster.
func channels(ctx context.Context, t *testing.T, cluster string, to *net.TCPAddr) *cachev3.Snapshot {
	text := fmt.Sprintf(`
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: orders.shop
  api_listener: {api_listener: {"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager,
    rds: {route_config_name: orders, config_source: {ads: {}}},
    http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]}}
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: orders
  virtual_hosts: [{name: orders, domains: ["*"], routes: [{match: {prefix: ""}, route: {cluster: %[1]s}}]}]
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: %[1]s
  type: EDS
  eds_cluster_config: {eds_config: {ads: {}}}
- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: %[1]s
  endpoints: [{locality: {region: eu}, load_balancing_weight: 1, lb_endpoints: [{endpoint: {address: {socket_address: {address: %[2]s, port_value: %[3]d}}}}]}]
`, cluster, to.IP, to.Port)
	input, err := load.Texts(ctx, map[string][]byte{"resources.yaml": []byte(text)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := input.One("resources")
	if err != nil {
		t.Fatal(err)
	}
	all := map[resourcev3.Type][]types.Resource{}
	for _, kind := range []graph.Kind{graph.Listener, graph.RouteConfiguration, graph.Cluster, graph.ClusterLoadAssignment} {
		for _, r := range snapshot.All(kind) {
			all[graph.TypeURL(kind)] = append(all[graph.TypeURL(kind)], r.Message)
		}
	}
	s, err := cachev3.NewSnapshot(cluster, all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
