package sdk

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// snapshot is a listener that refers to a cluster and to one that is missing; each has a message, and the cluster one inside.
func snapshot(t *testing.T, rules ...string) *pluginabi.Snapshot {
	return &pluginabi.Snapshot{
		Target: "envoy:1.40", Rules: rules,
		Resources: []*pluginabi.Resource{
			{Kind: "listener", Name: "public", File: "lds.yaml", Type: "envoy.config.listener.v3.Listener"},
			{Kind: "cluster", Name: "shop-cart", File: "cds.yaml", Type: "envoy.config.cluster.v3.Cluster", Bootstrap: true},
		},
		References: []*pluginabi.Reference{
			{From: 0, Path: "a.cluster", Kind: "cluster", Name: "shop-cart", To: proto.Uint32(1)},
			{From: 0, Path: "b.cluster", Kind: "cluster", Name: "gone"},
		},
		Messages: []*pluginabi.Message{
			{Resource: 1, Type: "envoy.config.cluster.v3.Cluster", Value: marshal(t, &clusterv3.Cluster{Name: "shop-cart"})},
			{Resource: 1, Path: "upstream_bind_config.source_address", Type: "envoy.config.core.v3.SocketAddress", Value: marshal(t, &corev3.SocketAddress{Address: "10.0.0.1"})},
		},
	}
}

func TestCheck(t *testing.T) {
	rules := []Rule{
		{ID: "acme/address", Check: Each(func(p *Pass, at At, a *corev3.SocketAddress) {
			p.Report(at.Field("address"), Finding{Message: a.GetAddress(), Severity: Info, Notes: []string{at.Resource.File}, Help: p.Snapshot.Target, Fixes: []Fix{{
				Message: "fix", Safe: true, Edits: []Edit{Set(at.Field("port_value"), 80), Set(at.Field("x"), map[string]any{"b": "two", "a": true}), Remove(at.Item("list", 2))},
			}}})
		})},
		{ID: "acme/graph", Check: Whole(func(p *Pass) {
			for _, r := range p.Snapshot.References {
				if r.To == nil {
					p.Reportf(r.At, "%s %s is missing, %s has %d referrers", r.Kind, r.Name, r.From.References[0].To.Name, len(r.From.References[0].To.Referrers))
				}
			}
			for _, r := range p.Snapshot.Resources {
				if c, ok := Message[*clusterv3.Cluster](p, r); ok {
					p.Reportf(r.At().Entry("metadata", `a"b`), "%s", c.GetName())
				}
			}
		}, (*clusterv3.Cluster)(nil))},
		{ID: "acme/off", Check: Whole(func(p *Pass) { p.Reportf(At{}, "this rule is off") })},
	}
	got := check(rules, snapshot(t, "acme/address", "acme/graph"))
	want := &pluginabi.Findings{Findings: []*pluginabi.Finding{
		{
			Rule: "acme/address", Resource: 1, Path: "upstream_bind_config.source_address.address", Message: "10.0.0.1", Severity: pluginabi.Severity_SEVERITY_INFO, Notes: []string{"cds.yaml"},
			Help: "envoy:1.40", Fixes: []*pluginabi.Fix{{Message: "fix", Safe: true, Edits: []*pluginabi.Edit{
				{Path: "upstream_bind_config.source_address.port_value", Change: &pluginabi.Edit_Set{Set: "80"}},
				{Path: "upstream_bind_config.source_address.x", Change: &pluginabi.Edit_Set{Set: `{"a":true,"b":"two"}`}},
				{Path: "upstream_bind_config.source_address.list[2]", Change: &pluginabi.Edit_Remove{Remove: true}},
			}}},
		},
		{Rule: "acme/graph", Path: "b.cluster", Message: "cluster gone is missing, shop-cart has 1 referrers"},
		{Rule: "acme/graph", Resource: 1, Path: `metadata["a\"b"]`, Message: "shop-cart"},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDescribe(t *testing.T) {
	f := func(*Pass, At, *clusterv3.Cluster) {}
	got := describe([]Rule{
		{ID: "acme/a", Summary: "a", Severity: Warning, Why: "because", Links: []string{"https://acme.example"}, Check: Each(f)},
		{ID: "acme/b", Summary: "b", Check: Whole(func(*Pass) {}, &clusterv3.Cluster{}, &listenerv3.Listener{})},
	})
	want := &pluginabi.Description{
		Rules: []*pluginabi.Rule{
			{Id: "acme/a", Summary: "a", Severity: pluginabi.Severity_SEVERITY_WARNING, Why: "because", Links: []string{"https://acme.example"}},
			{Id: "acme/b", Summary: "b"},
		},
		Types: []string{"envoy.config.cluster.v3.Cluster", "envoy.config.listener.v3.Listener"},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The severities are those of the interface.
func TestSeverities(t *testing.T) {
	for severity, name := range map[Severity]string{Unset: "UNSPECIFIED", Info: "INFO", Warning: "WARNING", Error: "ERROR"} {
		if got := pluginabi.Severity(severity).String(); got != "SEVERITY_"+name {
			t.Errorf("%d is %s", severity, got)
		}
	}
	if n := len(pluginabi.Severity_name); n != 4 {
		t.Errorf("the interface has %d", n)
	}
}

// Mistakes of a rule's author have clear messages.
func TestMistakes(t *testing.T) {
	pass := &Pass{Rule: &Rule{ID: "acme/a"}, Snapshot: read(snapshot(t))}
	for want, f := range map[string]func(){
		"two rules have the id acme/twice": func() { Register(Rule{ID: "acme/twice", Check: Whole(func(*Pass) {})}, Rule{ID: "acme/twice"}) },
		"rule acme/idle has no Check":      func() { Register(Rule{ID: "acme/idle"}) },
		"rule acme/a does not read envoy.config.cluster.v3.Cluster: name it in sdk.Whole":   func() { All[*clusterv3.Cluster](pass) },
		"rule acme/a does not read envoy.config.listener.v3.Listener: name it in sdk.Whole": func() { Message[*listenerv3.Listener](pass, pass.Snapshot.Resources[0]) },
		"name cannot be set to (0+1i): json: unsupported type: complex128":                  func() { Set(At{}.Field("name"), 1i) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// The messages of a loop that ends early are not decoded.
func TestAllEnds(t *testing.T) {
	s := snapshot(t)
	s.Messages = append(s.Messages, &pluginabi.Message{Type: "envoy.config.cluster.v3.Cluster", Value: []byte("garbage")})
	pass := &Pass{Rule: &Rule{Check: Whole(nil, (*clusterv3.Cluster)(nil))}, Snapshot: read(s)}
	for _, c := range All[*clusterv3.Cluster](pass) {
		if !strings.HasPrefix(c.GetName(), "shop-") {
			t.Error(c)
		}
		break
	}
}

// A cycle of references ends, and a resource in it reaches itself.
func TestReaches(t *testing.T) {
	s := &pluginabi.Snapshot{Resources: []*pluginabi.Resource{{Kind: "cluster", Name: "c"}, {Kind: "listener", Name: "l"}, {Kind: "cluster", Name: "a"}, {Kind: "cluster", Name: "b"}}}
	for _, r := range [][2]uint32{{1, 3}, {1, 2}, {2, 3}, {3, 0}, {0, 3}} {
		s.References = append(s.References, &pluginabi.Reference{From: r[0], To: &r[1]})
	}
	resources := read(s).Resources
	names := func(all []*Resource) (names string) {
		for _, r := range all {
			names += r.Name
		}
		return names
	}
	for got, want := range map[string]string{
		names(resources[1].Reaches("cluster")): "cab", names(resources[0].Reaches("cluster")): "cb", names(resources[0].ReachedBy("listener")): "l",
		names(resources[1].ReachedBy("cluster")): "",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
