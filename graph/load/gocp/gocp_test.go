package gocp_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	runtimev3 "github.com/envoyproxy/go-control-plane/envoy/service/runtime/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
)

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	a, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAllTypes(t *testing.T) {
	ads := &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}
	manager := packed(t, &hcmv3.HttpConnectionManager{RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{
		Rds: &hcmv3.Rds{RouteConfigName: "routes", ConfigSource: ads},
	}})
	ttl := 3 * time.Second
	given := map[resource.Type][]types.ResourceWithTTL{
		resource.ClusterType: {{Resource: &clusterv3.Cluster{Name: "b"}}, {Resource: &clusterv3.Cluster{Name: "a"}}},
		resource.EndpointType: {
			{Resource: &endpointv3.ClusterLoadAssignment{ClusterName: "a"}, TTL: &ttl},
		},
		resource.ListenerType: {{Resource: &listenerv3.Listener{Name: "l", FilterChains: []*listenerv3.FilterChain{{
			Filters: []*listenerv3.Filter{{Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: manager}}},
		}}}}},
		resource.RouteType:           {{Resource: &routev3.RouteConfiguration{Name: "routes"}}},
		resource.ScopedRouteType:     {{Resource: &routev3.ScopedRouteConfiguration{Name: "scope"}}},
		resource.VirtualHostType:     {{Resource: &routev3.VirtualHost{Name: "routes/shop"}}},
		resource.SecretType:          {{Resource: &tlsv3.Secret{Name: "key"}}},
		resource.RuntimeType:         {{Resource: &runtimev3.Runtime{Name: "layer"}}},
		resource.ExtensionConfigType: {{Resource: &corev3.TypedExtensionConfig{Name: "filter", TypedConfig: packed(t, &routerv3.Router{})}}},
	}
	s, err := cachev3.NewSnapshotWithTTLs("v1", given)
	if err != nil {
		t.Fatal(err)
	}
	made, err := gocp.Snapshot(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range made.Resources {
		got = append(got, string(r.Kind)+" "+r.Name)
		if r.Version != "v1" || r.Delivery != graph.OverXDS || r.File == nil || len(r.Problems) > 0 {
			t.Errorf("%s %s: version %q, delivery %d, file %v, problems %v", r.Kind, r.Name, r.Version, r.Delivery, r.File, r.Problems)
		}
		if r.Kind == graph.ClusterLoadAssignment && r.TTL != ttl || r.Kind != graph.ClusterLoadAssignment && r.TTL != 0 {
			t.Errorf("%s %s: TTL %s", r.Kind, r.Name, r.TTL)
		}
	}
	want := "cluster a, cluster b, cluster_load_assignment a, listener l, route_configuration routes, scoped_route_configuration scope, " +
		"virtual_host routes/shop, secret key, runtime layer, extension_config filter"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if a := made.Pushed(graph.Cluster, "a"); a.Message != proto.Message(given[resource.ClusterType][1].Resource) {
		t.Error("the message is a copy")
	}
	listener := made.Pushed(graph.Listener, "l")
	if edges := made.From(listener); len(edges) != 1 || edges[0].To != made.Pushed(graph.RouteConfiguration, "routes") {
		t.Errorf("the listener refers to %v", edges)
	}
	if made.World(graph.Cluster, graph.ADS) != graph.Presumed || made.World(graph.LbEndpoint, graph.ADS) != graph.Open {
		t.Error("the world of clusters is presumed, that of what the snapshot has nothing of is open")
	}
}

func TestErrors(t *testing.T) {
	misplaced := &cachev3.Snapshot{}
	misplaced.Resources[types.Cluster] = cachev3.NewResources("v1", []types.Resource{&routev3.RouteConfiguration{Name: "r"}})
	missing := &cachev3.Snapshot{}
	missing.Resources[types.Listener].Items = map[string]types.ResourceWithTTL{"l": {}}
	empty := &cachev3.Snapshot{}
	empty.Resources[types.Listener].Items = map[string]types.ResourceWithTTL{"l": {Resource: (*listenerv3.Listener)(nil)}}
	for _, test := range []struct {
		given cachev3.ResourceSnapshot
		want  string
	}{
		{nil, "there is no snapshot"},
		{(*cachev3.Snapshot)(nil), "there is no snapshot"},
		{misplaced, `cluster "r" is a *routev3.RouteConfiguration, not a envoy.config.cluster.v3.Cluster`},
		{missing, `listener "l" is a <nil>, not a envoy.config.listener.v3.Listener`},
		{empty, `listener "l" is a *listenerv3.Listener, not a envoy.config.listener.v3.Listener`},
	} {
		if _, err := gocp.Snapshot(test.given); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if s, err := gocp.Snapshot(&cachev3.Snapshot{}); err != nil || len(s.Resources) > 0 {
		t.Errorf("an empty snapshot: %v, %v", s, err)
	}
}

// TestOneFile: rules that compare resources of one file compare those of a snapshot.
func TestOneFile(t *testing.T) {
	s, err := cachev3.NewSnapshot("v1", map[resource.Type][]types.Resource{
		resource.ListenerType: {&listenerv3.Listener{Name: "a"}}, resource.ClusterType: {&clusterv3.Cluster{Name: "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := gocp.Snapshot(s)
	if err != nil || len(made.Resources) != 2 || made.Resources[0].File != made.Resources[1].File {
		t.Errorf("%v, %v", made.Resources, err)
	}
}

// TestUpdate: a graph that takes resources from an earlier one is the graph of the snapshot, with its versions.
func TestUpdate(t *testing.T) {
	c, ttl := &clusterv3.Cluster{Name: "stays"}, time.Second
	one, err := cachev3.NewSnapshotWithTTLs("v1", map[resource.Type][]types.ResourceWithTTL{
		resource.ClusterType: {{Resource: c}, {Resource: &clusterv3.Cluster{Name: "expires"}}, {Resource: &clusterv3.Cluster{Name: "changes"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	two, err := cachev3.NewSnapshotWithTTLs("v2", map[resource.Type][]types.ResourceWithTTL{
		resource.ClusterType: {{Resource: c}, {Resource: one.GetResources(resource.ClusterType)["expires"], TTL: &ttl}, {Resource: &clusterv3.Cluster{Name: "changes"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	before, err := gocp.Snapshot(one)
	if err != nil {
		t.Fatal(err)
	}
	after, err := gocp.Update(before, two)
	if err != nil {
		t.Fatal(err)
	}
	for name, same := range map[string]bool{"stays": true, "expires": false, "changes": false} {
		was, is := before.Pushed(graph.Cluster, name), after.Pushed(graph.Cluster, name)
		if (was == is) != same || before.Version(was) != "v1" || after.Version(is) != "v2" {
			t.Errorf("%s: the same %v, versions %q and %q", name, was == is, before.Version(was), after.Version(is))
		}
	}
	if got := after.Pushed(graph.Cluster, "expires").TTL; got != ttl {
		t.Errorf("the TTL is %s", got)
	}
}
