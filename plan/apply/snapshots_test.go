package apply

import (
	"maps"
	"slices"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/lint"
)

// config describes a snapshot: listener → route configuration → cluster, and what each cluster's connect timeout is.
type config struct {
	listeners map[string]string // to route configurations
	ports     map[string]uint32 // of listeners; 10000 where there is none
	routes    map[string]string // to clusters
	clusters  map[string]time.Duration
	orphans   []string      // cluster load assignments that no cluster refers to
	backend   uint32        // port of all endpoints; 8080 where there is none
	check     time.Duration // timeout of all health checks; 0: there are none
}

func (c config) snapshot(t *testing.T, version string, transport lint.Transport) *cachev3.Snapshot {
	t.Helper()
	source := configSource(transport)
	all := map[resource.Type][]types.Resource{}
	add := func(url string, m proto.Message) { all[url] = append(all[url], m) }
	for _, name := range slices.Sorted(maps.Keys(c.clusters)) {
		add(cds, &clusterv3.Cluster{
			Name: name, ConnectTimeout: durationpb.New(c.clusters[name]), ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
			EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: source}, HealthChecks: c.healthChecks(),
		})
		add(eds, c.endpoints(name))
	}
	for _, name := range c.orphans {
		add(eds, c.endpoints(name))
	}
	for _, name := range slices.Sorted(maps.Keys(c.listeners)) {
		port := c.ports[name]
		if port == 0 {
			port = 10000
		}
		add(lds, &listenerv3.Listener{
			Name: name, Address: address(port),
			FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{
				Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(t, &hcmv3.HttpConnectionManager{
					StatPrefix:     "in",
					RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{RouteConfigName: c.listeners[name], ConfigSource: source}},
					HttpFilters: []*hcmv3.HttpFilter{{
						Name: "router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(t, &routerv3.Router{})},
					}},
				})},
			}}}},
		})
	}
	for _, name := range slices.Sorted(maps.Keys(c.routes)) {
		add(rds, &routev3.RouteConfiguration{Name: name, VirtualHosts: []*routev3.VirtualHost{{
			Name: "all", Domains: []string{"*"}, Routes: []*routev3.Route{{
				Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: c.routes[name]}}},
			}},
		}}})
	}
	s, err := cachev3.NewSnapshot(version, all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func address(port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: "127.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}

func (c config) healthChecks() []*corev3.HealthCheck {
	if c.check == 0 {
		return nil
	}
	return []*corev3.HealthCheck{{
		Timeout: durationpb.New(c.check), Interval: durationpb.New(time.Second),
		UnhealthyThreshold: wrapperspb.UInt32(1), HealthyThreshold: wrapperspb.UInt32(1),
		HealthChecker: &corev3.HealthCheck_TcpHealthCheck_{TcpHealthCheck: &corev3.HealthCheck_TcpHealthCheck{}},
	}}
}

func (c config) endpoints(name string) *endpointv3.ClusterLoadAssignment {
	port := c.backend
	if port == 0 {
		port = 8080
	}
	return &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{{
		LbEndpoints: []*endpointv3.LbEndpoint{{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: address(port)}}}},
	}}}
}

func configSource(transport lint.Transport) *corev3.ConfigSource {
	if transport.ADS() {
		return &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}
	}
	api := &corev3.ApiConfigSource{ApiType: corev3.ApiConfigSource_GRPC, TransportApiVersion: corev3.ApiVersion_V3, GrpcServices: []*corev3.GrpcService{{
		TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: "xds"}},
	}}}
	if transport.Incremental() {
		api.ApiType = corev3.ApiConfigSource_DELTA_GRPC
	}
	return &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_ApiConfigSource{ApiConfigSource: api}}
}

// withoutTouch is a message without what a plan may change in it.
func withoutTouch(m proto.Message) proto.Message {
	if cla, ok := m.(*endpointv3.ClusterLoadAssignment); ok {
		cla = proto.CloneOf(cla)
		cla.Policy = nil
		return cla
	}
	return m
}

// The transitions of the tests. A listener goes to a new route configuration and that to a new cluster.
var (
	plain = config{
		listeners: map[string]string{"l": "r"}, routes: map[string]string{"r": "c1"},
		clusters: map[string]time.Duration{"c1": time.Second},
	}
	rerouted = config{
		listeners: map[string]string{"l": "r"}, routes: map[string]string{"r": "c2"},
		clusters: map[string]time.Duration{"c2": time.Second},
	}
	changed = config{
		listeners: map[string]string{"l": "r"}, routes: map[string]string{"r": "c1"},
		clusters: map[string]time.Duration{"c1": 2 * time.Second},
	}
	renamed = config{
		listeners: map[string]string{"l2": "r2"}, routes: map[string]string{"r2": "c2"},
		clusters: map[string]time.Duration{"c2": time.Second},
	}
)
