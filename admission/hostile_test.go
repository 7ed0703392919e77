package admission_test

import (
	"maps"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	aggregatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
)

// No content of a snapshot makes the gate panic or judge forever.
func TestHostile(t *testing.T) {
	aggregate := func(name string, of ...string) types.Resource {
		return &clusterv3.Cluster{Name: name, LbPolicy: clusterv3.Cluster_CLUSTER_PROVIDED, ClusterDiscoveryType: &clusterv3.Cluster_ClusterType{
			ClusterType: &clusterv3.Cluster_CustomClusterType{
				Name: "envoy.clusters.aggregate", TypedConfig: packed(&aggregatev3.ClusterConfig{Clusters: of}),
			},
		}}
	}
	garbage := &listenerv3.Listener{Name: "garbage", FilterChains: []*listenerv3.FilterChain{nil, {Filters: []*listenerv3.Filter{nil, {
		ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: &anypb.Any{TypeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster", Value: []byte{255}}},
	}, {ConfigType: &listenerv3.Filter_TypedConfig{}}}}}}
	unknown := &clusterv3.Cluster{Name: "unknown"}
	unknown.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 9999, protowire.VarintType), 1))
	for name, resources := range map[string][]types.Resource{
		"nothing":           {},
		"empty names":       {&clusterv3.Cluster{}, &listenerv3.Listener{}, &routev3.RouteConfiguration{}, &endpointv3.ClusterLoadAssignment{}, table("", "")},
		"a cycle":           {aggregate("a", "b"), aggregate("b", "c"), aggregate("c", "a"), table("public", "a")},
		"a cycle of one":    {aggregate("a", "a")},
		"nil inside":        {garbage, &routev3.RouteConfiguration{Name: "r", VirtualHosts: []*routev3.VirtualHost{nil, {Routes: []*routev3.Route{nil, {}}}}}},
		"unknown fields":    {unknown},
		"invalid UTF-8":     {&clusterv3.Cluster{Name: "\xff\xfe"}},
		"names with quotes": {table("\"\\", "\"7\\"), listener("\"", 1, "\"\\")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range [][]types.Resource{nil, good(), {table("public", "a", "b")}} {
				g := try(t, nil)
				if before != nil {
					if err := g.cache.SetSnapshot(t.Context(), node, snapshot(t, "v1", before...)); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 {
					if d, _ := g.set(snapshot(t, "v2", resources...)); d.Err != nil || len(d.Failures) > 0 {
						t.Fatal(d.Err, d.Failures)
					}
					g.must(admission.Admitted, snapshot(t, "v3", good()...))
				}
			}
		})
	}
	t.Run("no maps", func(t *testing.T) {
		g := try(t, nil)
		g.must(admission.Admitted, &cachev3.Snapshot{})
	})
	t.Run("other names than the messages have", func(t *testing.T) {
		g := try(t, nil)
		s := snapshot(t, "v1", good()...)
		items := s.Resources[types.Cluster].Items
		items[""], items["other"] = items["shop"], items["cart"]
		if d, _ := g.set(s); d.Err != nil || len(d.Failures) > 0 {
			t.Error(d.Err, d.Failures)
		}
	})
}

// foreign is a snapshot of another implementation, which cannot be compared.
type foreign struct {
	*cachev3.Snapshot
	items func(url string) map[string]types.ResourceWithTTL
}

func (f foreign) GetResourcesAndTTL(url string) map[string]types.ResourceWithTTL { return f.items(url) }

// TestForeign: what another implementation of a snapshot serves, without messages or with those of other types, is judged like what cannot be read.
func TestForeign(t *testing.T) {
	g := try(t, nil)
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	for _, odd := range []types.Resource{nil, (*clusterv3.Cluster)(nil), &listenerv3.Listener{Name: "shop"}, &clusterv3.Cluster{Name: "shop"}} {
		for _, name := range []string{"", "shop", "odd"} {
			s := foreign{snapshot(t, "v2", good()...), nil}
			s.items = func(url string) map[string]types.ResourceWithTTL {
				items := maps.Clone(s.Snapshot.GetResourcesAndTTL(url))
				if url == resource.ClusterType {
					items[name] = types.ResourceWithTTL{Resource: odd}
				}
				return items
			}
			for range 2 {
				if d, _ := g.set(s); d.Err != nil || len(d.Failures) > 0 {
					t.Fatalf("%T as %q: %v %v", odd, name, d.Err, d.Failures)
				}
			}
		}
	}
	g.must(admission.Admitted, snapshot(t, "v3", good()...))
}

// FuzzSnapshots replaces one resource with arbitrary bytes.
func FuzzSnapshots(f *testing.F) {
	for _, r := range good() {
		bytes, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(0), bytes)
	}
	boot := bootstrap(f)
	f.Fuzz(func(t *testing.T, at uint8, bytes []byte) {
		g := try(t, func(o *admission.Options) { o.Bootstrap, o.Deadline = boot, time.Minute })
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		all := good()
		changed := all[int(at)%len(all)].ProtoReflect().New().Interface()
		if proto.Unmarshal(bytes, changed) != nil {
			return
		}
		all[int(at)%len(all)] = changed
		d, _ := g.set(snapshot(t, "v2", all...))
		if d.Err != nil || len(d.Failures) > 0 || d.TimedOut {
			t.Fatal(d.Err, d.Failures, d.TimedOut)
		}
		g.must(admission.Admitted, snapshot(t, "v3", good()...))
	})
}
