package admission_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

func TestBlock(t *testing.T) {
	g := try(t, func(o *admission.Options) { o.Policy = admission.Block })
	first := snapshot(t, "v1", good()...)
	g.must(admission.Admitted, first)
	_, err := g.set(snapshot(t, "v2", plus(table("public", "shop", "nowhere", "elsewhere"), refused(eds("cart")))...))
	var blocked *admission.BlockedError
	if !errors.As(err, &blocked) || blocked.Decision.Outcome != admission.Blocked || len(blocked.Decision.New) != 3 || blocked.Decision.Snapshot != nil {
		t.Fatalf("%#v", err)
	}
	want := `node "edge-1" keeps what it has: cluster "cart", connect_timeout: connect_timeout must be greater than 0s [schema/constraint] (and 2 more errors)`
	if err.Error() != want {
		t.Errorf("%s\nwant %s", err, want)
	}
	if held, _ := g.cache.GetSnapshot(node); held != cachev3.ResourceSnapshot(first) {
		t.Error("the node does not keep what it has")
	}
}

// TestShortErrors: what a gate says is short, however long the names of nodes, resources and clusters are.
func TestShortErrors(t *testing.T) {
	long := strings.Repeat("n", 1<<20)
	for name, policy := range map[string]admission.Policy{"blocked": admission.Block, "withheld": admission.Quarantine} {
		g := try(t, func(o *admission.Options) { o.Policy = policy })
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		d, err := g.set(snapshot(t, "v2", plus(refused(eds(long)), table("public", long))...))
		texts := []string{}
		if err != nil {
			texts = append(texts, err.Error())
		}
		for _, w := range d.Withheld {
			texts = append(texts, w.String())
		}
		if len(texts) == 0 {
			t.Errorf("%s: nothing", name)
		}
		for _, text := range texts {
			if len(text) > 2000 {
				t.Errorf("%s: %d bytes: %.300s", name, len(text), text)
			}
		}
	}
}

func TestObserve(t *testing.T) {
	g := try(t, func(o *admission.Options) { o.Policy = admission.Observe })
	bad := snapshot(t, "v1", plus(refused(eds("shop")))...)
	if d := g.must(admission.Observed, bad); len(d.New) != 1 {
		t.Error(findings(d))
	}
	if held, _ := g.cache.GetSnapshot(node); held != cachev3.ResourceSnapshot(bad) {
		t.Error("it does not go out as it is")
	}
}

func TestPolicies(t *testing.T) {
	g := try(t, func(o *admission.Options) {
		o.Policies = []admission.RulePolicy{
			{Selector: "reference", Policy: admission.Block}, {Selector: "reference/route-unknown-cluster", Policy: admission.Observe},
		}
	})
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Observed, snapshot(t, "v2", plus(table("public", "shop", "nowhere"))...))
	g.must(admission.Quarantined, snapshot(t, "v3", plus(table("public", "shop", "elsewhere"), refused(eds("cart")))...), "cluster cart keeps its version")
	g.must(admission.Blocked, snapshot(t, "v4", plus(refused(eds("cart")), listener("web", 8080, "nowhere"))...))
}

func TestWorlds(t *testing.T) {
	dangling := plus(table("public", "shop", "control", "nowhere"))
	static := plus(table("public", "shop", "control"))
	far := plus(renamed(eds("cart"), "xdstp://stores.example.com/envoy.config.endpoint.v3.ClusterLoadAssignment/cart"))
	withoutBootstrap := func(o *admission.Options) { o.Bootstrap = nil }
	for _, test := range []struct {
		name    string
		change  func(*admission.Options)
		given   []types.Resource
		outcome admission.Outcome
	}{
		{"the bootstrap takes clusters from ADS alone", nil, dangling, admission.Quarantined},
		{"the bootstrap has the cluster", nil, static, admission.Admitted},
		{"without a bootstrap there may be more clusters", withoutBootstrap, dangling, admission.Admitted},
		{"unless somebody says so", func(o *admission.Options) {
			o.Bootstrap, o.Assumptions.Closed = nil, []graph.Kind{graph.Cluster}
		}, dangling, admission.Quarantined},
		{"the name is assumed", func(o *admission.Options) {
			o.Assumptions.Names = []graph.Assumed{{Kind: graph.Cluster, Glob: "no*"}}
		}, dangling, admission.Admitted},
		{"names over ADS come from the gate, with a bootstrap or without", withoutBootstrap, plus(listener("web", 8080, "nowhere")), admission.Quarantined},
		{"an xdstp name is served by whom the bootstrap names", func(o *admission.Options) {
			o.Bootstrap = read(t, bootText+"default_config_source: {api_config_source: {api_type: AGGREGATED_DELTA_GRPC, "+
				"transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: control}}]}}\n")
		}, far, admission.Admitted},
		{"or by whom is not known", withoutBootstrap, far, admission.Admitted},
		{"or by the gate, where the bootstrap names nobody", nil, far, admission.Quarantined},
		{"of what the gate serves nothing, somebody else may", nil, minus("RouteConfiguration/public"), admission.Admitted},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := try(t, test.change)
			if d, _ := g.set(snapshot(t, "v1", test.given...)); d.Outcome != test.outcome {
				t.Errorf("%s, want %s: %v", d.Outcome, test.outcome, findings(d))
			}
		})
	}
}

// A cache that serves everything says so with Assumptions.Closed. Then a name is missing even if the node never had a resource of that kind.
func TestClosed(t *testing.T) {
	after := plus(encrypted(eds("pay"), ads), endpoints("pay", 80), secure(listener("safe", 8443, "public")), endpoints("shop", 81))
	closed := func(o *admission.Options) {
		o.Assumptions.Closed = []graph.Kind{graph.RouteConfiguration, graph.ClusterLoadAssignment, graph.Secret, graph.ExtensionConfig}
	}
	open := try(t, nil)
	open.must(admission.Admitted, snapshot(t, "v1", good()...))
	open.must(admission.Admitted, snapshot(t, "v2", after...))
	g := try(t, closed)
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Quarantined, snapshot(t, "v2", after...),
		"cluster pay is left out", "cluster_load_assignment pay is left out", "listener safe is left out")
	g.must(admission.Admitted, snapshot(t, "v3", append(after, secret(envoytest.KeyPair(t, "shop.example.com")))...))
	first := try(t, closed)
	first.must(admission.Quarantined, snapshot(t, "v1", eds("shop"), eds("cart"), listener("web", 8080, "public"), static("own")),
		"cluster cart is left out", "cluster shop is left out", "listener web is left out")
	// It is said of the kind, wherever it comes from. What comes from elsewhere has to be named.
	file := &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_PathConfigSource{PathConfigSource: &corev3.PathConfigSource{Path: "/etc/pair.yaml"}}}
	filed := plus(encrypted(eds("pay"), file), endpoints("pay", 80))
	try(t, closed).must(admission.Quarantined, snapshot(t, "v1", filed...), "cluster pay is left out", "cluster_load_assignment pay is left out")
	named := try(t, func(o *admission.Options) {
		closed(o)
		o.Assumptions.Names = []graph.Assumed{{Kind: graph.Secret, Glob: "pair"}}
	})
	named.must(admission.Admitted, snapshot(t, "v1", append(filed, secure(listener("safe", 8443, "public")))...))
}

// encrypted is a cluster with TLS, whose certificate is the secret "pair".
func encrypted(c *clusterv3.Cluster, source *corev3.ConfigSource) *clusterv3.Cluster {
	c.TransportSocket = &corev3.TransportSocket{Name: "tls", ConfigType: &corev3.TransportSocket_TypedConfig{
		TypedConfig: packed(&tlsv3.UpstreamTlsContext{CommonTlsContext: &tlsv3.CommonTlsContext{
			TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{{Name: "pair", SdsConfig: source}},
		}}),
	}}
	return c
}

func static(name string) *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name: name, ConnectTimeout: durationpb.New(time.Second), LoadAssignment: endpoints(name, 80),
		ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC},
	}
}

// Errors in the bootstrap itself do not count against the push. Removing what the bootstrap needs does.
func TestBootstrapsOwnErrors(t *testing.T) {
	text := strings.Replace(bootText, "  clusters:", `  listeners:
  - name: static
    address: {socket_address: {address: 0.0.0.0, port_value: 9000}}
    filter_chains:
    - filters:
      - name: tcp
        typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, cluster: shop}
    - filters:
      - name: tcp
        typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: t, cluster: never}
  clusters:`, 1)
	g := try(t, func(o *admission.Options) { o.Bootstrap = read(t, text) })
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Quarantined, snapshot(t, "v2", without(plus(table("public", "cart")), "Cluster/shop", "ClusterLoadAssignment/shop")...),
		"cluster shop is not removed, yet", "cluster_load_assignment shop is not removed, yet")
}

func TestHazards(t *testing.T) {
	hazard := &lint.Rule{Name: "never-smaller", Group: "transition", Severity: lint.Error}
	calls := 0
	g := try(t, func(o *admission.Options) {
		o.Hazards = func(before, after *graph.Snapshot) *lint.Result {
			calls++
			found := &lint.Result{}
			for _, change := range graph.Diff(before, after).Of(graph.Cluster) {
				if change.Removed() {
					found.Diagnostics = append(found.Diagnostics, lint.Diagnostic{Rule: hazard, Severity: lint.Error, Resource: change.Old, Message: "it goes"})
				}
			}
			return found
		}
	})
	g.must(admission.Admitted, snapshot(t, "v1", plus(eds("pay"), endpoints("pay", 80))...))
	if calls > 0 {
		t.Error("nothing comes before the first snapshot")
	}
	d := g.must(admission.Quarantined, snapshot(t, "v2", plus(slow(eds("cart")))...),
		"cluster pay is not removed, yet", "cluster_load_assignment pay is not removed, yet")
	if len(d.New) != 1 || d.New[0].Rule != hazard {
		t.Error(findings(d))
	}
}

// misfit is a snapshot with resources that go-control-plane would serve as garbage.
func TestMisfits(t *testing.T) {
	for name, bad := range map[string]types.Resource{
		"another type": &routev3.RouteConfiguration{Name: "odd"}, "nothing": nil, "nothing of the type": (*clusterv3.Cluster)(nil),
	} {
		t.Run(name, func(t *testing.T) {
			g := try(t, nil)
			g.must(admission.Admitted, snapshot(t, "v1", good()...))
			s := snapshot(t, "v2", plus(slow(eds("cart")))...)
			s.Resources[types.Cluster].Items["odd"] = types.ResourceWithTTL{Resource: bad}
			g.must(admission.Quarantined, s, "cluster odd is left out")
		})
	}
}

// other is a snapshot that is not one of go-control-plane's types.
type other struct{ *cachev3.Snapshot }

func (o other) GetVersion(url string) string {
	if url == ownType {
		return "own"
	}
	return o.Snapshot.GetVersion(url)
}

func TestOtherSnapshots(t *testing.T) {
	g := try(t, nil)
	first := other{snapshot(t, "v1", good()...)}
	g.must(admission.Admitted, first)
	if held, _ := g.GetSnapshot(node); held != cachev3.ResourceSnapshot(first) {
		t.Error("it does not go out as it is")
	}
	g.must(admission.Quarantined, other{snapshot(t, "v2", plus(refused(eds("shop")), slow(eds("cart")))...)}, "cluster shop keeps its version")
	held, err := g.GetSnapshot(node)
	if err != nil || held.GetVersion(ownType) != "own" || held.ConstructVersionMap() != nil || len(held.GetVersionMap(resource.ClusterType)) != 2 {
		t.Errorf("its own types are missing: %v", held)
	}
}
