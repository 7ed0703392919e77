package plan_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	aggregatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// TestPlansAreClosed: if both snapshots are closed under references, then so is every state between them. The last state is the new snapshot, no
// state holds a resource that nothing asks for, and planning twice gives the same plan.
func TestPlansAreClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := plan.Options{
			Push:    lint.Push{Transport: rapid.SampledFrom(lint.Transports).Draw(t, "transport")},
			Repoint: rapid.Bool().Draw(t, "repoint"), Family: rapid.SampledFrom([]dataplane.Family{dataplane.Envoy, dataplane.GRPC}).Draw(t, "family"),
		}
		before, after := world(t, "old", opts.Family), world(t, "new", opts.Family)
		made := plan.Make(graph.Diff(before, after), opts)
		checkStates(t, before, after, made, opts)
		if !bytes.Equal(asJSON(t, made), asJSON(t, plan.Make(graph.Diff(before, after), opts))) {
			t.Error("two plans for the same snapshots differ")
		}
		if opts.Family == dataplane.GRPC {
			for _, d := range made.Remaining(t.Context(), dataplane.Target{Plane: "grpc-go", Version: "1.85"}).Diagnostics {
				if d.Rule.Name == "grpc-cluster-removed" {
					t.Errorf("the plan does not avoid it: %s", d.Message)
				}
			}
		}
		if len(made.Phases) > 12 {
			t.Errorf("%d phases", len(made.Phases))
		}
	})
}

func asJSON(t interface{ Fatal(...any) }, made *plan.Plan) []byte {
	var b bytes.Buffer
	outcome := &plan.Outcome{Hazards: &lint.Result{}, Plan: made, Remaining: made.Remaining(context.Background(), dataplane.Default())}
	if err := outcome.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// world draws a closed snapshot out of few names, so that two of them have much in common.
func world(t *rapid.T, label string, family dataplane.Family) *graph.Snapshot {
	w := &worldMaker{t: t, label: label, family: family, resources: map[plan.Resource]proto.Message{}}
	for _, name := range w.some("listeners", 0, 3, "edge", "admin", "mesh", "front") {
		w.listener(name)
	}
	for _, name := range w.some("spare clusters", 0, 2, "a", "b", "c", "d", "all") {
		w.cluster(name, 0)
	}
	s := &graph.Snapshot{}
	for _, at := range slices.SortedFunc(maps.Keys(w.resources), func(a, b plan.Resource) int {
		return bytes.Compare([]byte(a.Kind+"/"+graph.Kind(a.Name)), []byte(b.Kind+"/"+graph.Kind(b.Name)))
	}) {
		d := decode.NewDecoder(nil)
		d.Open(w.resources[at])
		s.Add(&graph.Resource{Kind: at.Kind, Name: at.Name, Message: w.resources[at], Contents: d.Contents, File: &source.File{}})
	}
	s.Build()
	return s
}

type worldMaker struct {
	t         *rapid.T
	label     string
	family    dataplane.Family
	resources map[plan.Resource]proto.Message
}

func (w *worldMaker) some(label string, least, most int, names ...string) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(names), least, most, rapid.ID[string]).Draw(w.t, w.label+" "+label)
}

func (w *worldMaker) one(label string, n int) int {
	return rapid.IntRange(0, n-1).Draw(w.t, w.label+" "+label)
}

func (w *worldMaker) add(kind graph.Kind, name string, m proto.Message) bool {
	at := plan.Resource{Kind: kind, Name: name}
	if w.resources[at] != nil {
		return false
	}
	w.resources[at] = m
	return true
}

func (w *worldMaker) listener(name string) {
	hcm := &hcmv3.HttpConnectionManager{StatPrefix: name}
	kinds := 3
	if w.family == dataplane.GRPC {
		kinds = 2 // it has no scopes
	}
	switch w.one("routes of "+name, kinds) {
	case 0:
		hcm.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: w.table("inline")}
	case 1:
		table := w.some("table of "+name, 1, 1, "public", "green", "admin")[0]
		hcm.RouteSpecifier = &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{RouteConfigName: table, ConfigSource: ads()}}
		w.routes(table)
	default:
		hcm.RouteSpecifier = &hcmv3.HttpConnectionManager_ScopedRoutes{ScopedRoutes: &hcmv3.ScopedRoutes{
			Name: "tenants", RdsConfigSource: ads(), ConfigSpecifier: &hcmv3.ScopedRoutes_ScopedRds{ScopedRds: &hcmv3.ScopedRds{ScopedRdsConfigSource: ads()}},
		}}
		for _, scope := range w.some("scopes", 1, 2, "acme", "globex") {
			table := w.some("table of scope "+scope, 1, 1, "public", "green", "admin")[0]
			fragment := &routev3.ScopedRouteConfiguration_Key_Fragment{Type: &routev3.ScopedRouteConfiguration_Key_Fragment_StringKey{StringKey: scope}}
			if w.add(graph.ScopedRouteConfiguration, scope, &routev3.ScopedRouteConfiguration{
				Name: scope, RouteConfigurationName: table, Key: &routev3.ScopedRouteConfiguration_Key{Fragments: []*routev3.ScopedRouteConfiguration_Key_Fragment{fragment}},
			}) {
				w.routes(table)
			}
		}
	}
	if w.family == dataplane.GRPC {
		w.add(graph.Listener, name, &listenerv3.Listener{Name: name, ApiListener: &listenerv3.ApiListener{ApiListener: packed(hcm)}})
		return
	}
	w.add(graph.Listener, name, &listenerv3.Listener{
		Name: name, Address: socket(uint32(8000 + w.one("port of "+name, 4))),
		PerConnectionBufferLimitBytes: wrapperspb.UInt32(uint32(1024 + w.one("buffer of "+name, 2))),
		FilterChains:                  []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(hcm)}}}}},
	})
}

func (w *worldMaker) routes(name string) {
	if w.add(graph.RouteConfiguration, name, &routev3.RouteConfiguration{}) {
		w.resources[plan.Resource{Kind: graph.RouteConfiguration, Name: name}] = w.table(name)
	}
}

func (w *worldMaker) table(name string) *routev3.RouteConfiguration {
	var routes []*routev3.Route
	for i, cluster := range w.some("clusters of "+name, 1, 3, "a", "b", "c", "d", "all") {
		w.cluster(cluster, 0)
		routes = append(routes, &routev3.Route{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: fmt.Sprint("/", i)}},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}},
		})
	}
	return &routev3.RouteConfiguration{Name: name, VirtualHosts: []*routev3.VirtualHost{{Name: "all", Domains: []string{"*"}, Routes: routes}}}
}

func (w *worldMaker) cluster(name string, depth int) {
	c := &clusterv3.Cluster{Name: name}
	if !w.add(graph.Cluster, name, c) {
		return
	}
	c.PerConnectionBufferLimitBytes = wrapperspb.UInt32(uint32(1024 + w.one("buffer of "+name, 2)))
	if name == "all" && depth == 0 {
		members := w.some("members", 1, 2, "a", "b", "c")
		c.ClusterDiscoveryType = &clusterv3.Cluster_ClusterType{ClusterType: &clusterv3.Cluster_CustomClusterType{
			Name: "envoy.clusters.aggregate", TypedConfig: packed(&aggregatev3.ClusterConfig{Clusters: members}),
		}}
		for _, member := range members {
			w.cluster(member, 1)
		}
		return
	}
	if w.one("type of "+name, 4) == 0 {
		c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
		return
	}
	service := w.some("service of "+name, 1, 1, name, "shared")[0]
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS}
	c.EdsClusterConfig = &clusterv3.Cluster_EdsClusterConfig{EdsConfig: ads(), ServiceName: service}
	w.add(graph.ClusterLoadAssignment, service, w.endpoints(service))
}

func (w *worldMaker) endpoints(service string) *endpointv3.ClusterLoadAssignment {
	return endpoints(service, w.one("endpoints of "+service, 3))
}

func endpoints(service string, n int) *endpointv3.ClusterLoadAssignment {
	var hosts []*endpointv3.LbEndpoint
	for i := range n {
		hosts = append(hosts, &endpointv3.LbEndpoint{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: socket(uint32(9000 + i))}}})
	}
	return &endpointv3.ClusterLoadAssignment{ClusterName: service, Endpoints: []*endpointv3.LocalityLbEndpoints{{LbEndpoints: hosts}}}
}

func ads() *corev3.ConfigSource {
	return &corev3.ConfigSource{ResourceApiVersion: corev3.ApiVersion_V3, ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}
}

func socket(port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{Address: "10.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port}}}}
}

func packed(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	return a
}
