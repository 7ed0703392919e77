package plan_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/plan"
)

// BenchmarkMake plans a push to a proxy with 10,000 clusters, of which 1 % change: some are rebuilt, some renamed and their routes with
// them. With "same", what does not change are the same resources. Its peer compares the two snapshots and does nothing else.
func BenchmarkMake(b *testing.B) {
	before, after := fleet(10_000, false), fleet(10_000, true)
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			made := plan.Make(graph.Diff(before, after), plan.Options{})
			if len(made.Phases) != 3 {
				b.Fatal(len(made.Phases), "phases")
			}
		}
	})
	after = before.With(sameWhereEqual(before, after))
	b.Run("plan/same", func(b *testing.B) {
		for b.Loop() {
			made := plan.Make(graph.Diff(before, after), plan.Options{})
			if len(made.Phases) != 3 {
				b.Fatal(len(made.Phases), "phases")
			}
		}
	})
	b.Run("hazards", func(b *testing.B) {
		for b.Loop() {
			plan.Hazards(b.Context(), graph.Diff(before, after), plan.Options{}.Push, dataplane.Default())
		}
	})
	b.Run("diff", func(b *testing.B) {
		for b.Loop() {
			graph.Diff(before, after)
		}
	})
}

// BenchmarkRename plans a push that renames 4,000 listeners, all at once. Its peer compares the two snapshots and does nothing else.
func BenchmarkRename(b *testing.B) {
	changes := func() *graph.Changes { return graph.Diff(listeners("green", 4000), listeners("blue", 4000)) }
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			plan.Make(changes(), plan.Options{})
		}
	})
	b.Run("diff", func(b *testing.B) {
		for b.Loop() {
			changes()
		}
	})
}

func listeners(prefix string, n int) *graph.Snapshot {
	s := &graph.Snapshot{}
	for i := range n {
		l := &listenerv3.Listener{Name: fmt.Sprintf("%s-%04d", prefix, i), Address: socket(uint32(10_000 + i))}
		s.Add(&graph.Resource{Kind: graph.Listener, Name: l.Name, Message: l, File: &source.File{}})
	}
	s.Build()
	return s
}

// sameWhereEqual returns the resources of a snapshot; those that are equal in the one before are taken from there.
func sameWhereEqual(before, after *graph.Snapshot) (all []*graph.Resource) {
	for _, r := range after.Resources {
		if was := before.Pushed(r.Kind, r.Name); was != nil && graph.Equal(was, r) {
			r = was
		}
		all = append(all, r)
	}
	return all
}

// fleet is one listener with 100 route configurations' worth of virtual hosts, a route for each EDS cluster.
func fleet(clusters int, later bool) *graph.Snapshot {
	s := &graph.Snapshot{}
	add := func(kind graph.Kind, m proto.Message) {
		d := decode.NewDecoder(nil)
		d.Open(m)
		s.Add(&graph.Resource{Kind: kind, Name: graph.NameOf(m.ProtoReflect()), Message: m, Contents: d.Contents, File: &source.File{}})
	}
	tables := map[string]*routev3.RouteConfiguration{}
	for i := range clusters {
		name := fmt.Sprintf("service-%05d", i)
		c := &clusterv3.Cluster{
			Name: name, ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
			EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: ads()},
		}
		if later && i%100 == 0 {
			if i%200 == 0 {
				c.Name += "-v2"
			} else {
				c.PerConnectionBufferLimitBytes = wrapperspb.UInt32(1 << 16)
			}
		}
		add(graph.Cluster, c)
		add(graph.ClusterLoadAssignment, endpoints(c.Name, 3))
		table := fmt.Sprintf("routes-%03d", i/100)
		if tables[table] == nil {
			tables[table] = &routev3.RouteConfiguration{Name: table, VirtualHosts: []*routev3.VirtualHost{{Name: "all", Domains: []string{"*"}}}}
			add(graph.Listener, front(table, 10000+i/100))
		}
		host := tables[table].VirtualHosts[0]
		host.Routes = append(host.Routes, &routev3.Route{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/" + name}},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: c.Name}}},
		})
	}
	for i := range (clusters + 99) / 100 {
		add(graph.RouteConfiguration, tables[fmt.Sprintf("routes-%03d", i)])
	}
	s.Build()
	return s
}

func front(table string, port int) *listenerv3.Listener {
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix:     table,
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{RouteConfigName: table, ConfigSource: ads()}},
	}
	return &listenerv3.Listener{
		Name: table, Address: socket(uint32(port)),
		FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(hcm)}}}}},
	}
}
