package admission_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
)

func TestQuarantine(t *testing.T) {
	for _, test := range []struct {
		name     string
		before   []types.Resource
		after    []types.Resource
		withheld []string
	}{
		{
			"a bad change: the old version stays, other changes go out",
			good(), plus(refused(eds("shop")), slow(eds("cart"))),
			[]string{"cluster shop keeps its version"},
		},
		{
			"a bad addition is left out, and so is what refers to it, and what only that asks for",
			good(), plus(refused(eds("pay")), endpoints("pay", 80), table("public", "shop", "cart", "pay"), slow(eds("cart"))),
			[]string{"cluster pay is left out", "cluster_load_assignment pay is left out", "route_configuration public keeps its version"},
		},
		{
			"a removal that leaves a reference behind is withheld, with what belongs to it",
			good(), minus("Cluster/shop", "ClusterLoadAssignment/shop"),
			[]string{"cluster shop is not removed, yet", "cluster_load_assignment shop is not removed, yet"},
		},
		{
			"the same, where the resource that refers to it has changed for another reason: that change goes out",
			good(), without(plus(retried(table("public", "shop", "cart"))), "Cluster/shop", "ClusterLoadAssignment/shop"),
			[]string{"cluster shop is not removed, yet", "cluster_load_assignment shop is not removed, yet"},
		},
		{
			"two that refer to what is removed, both changed for other reasons",
			plus(table("also", "shop"), listener("also", 8081, "also")),
			without(plus(retried(table("also", "shop")), listener("also", 8081, "also"), retried(table("public", "shop", "cart"))), "Cluster/shop", "ClusterLoadAssignment/shop"),
			[]string{"cluster shop is not removed, yet", "cluster_load_assignment shop is not removed, yet"},
		},
		{
			"what a bad change no longer refers to stays as long as it does",
			good(), without(plus(twice(table("public", "cart"))), "Cluster/shop", "ClusterLoadAssignment/shop"),
			[]string{"cluster shop is not removed, yet", "cluster_load_assignment shop is not removed, yet", "route_configuration public keeps its version"},
		},
		{
			"a dangling name in a change",
			good(), plus(table("public", "shop", "cart", "nowhere"), slow(eds("cart"))),
			[]string{"route_configuration public keeps its version"},
		},
		{
			"endpoints that never come",
			good(), plus(eds("pay"), table("public", "shop", "cart", "pay")),
			[]string{"cluster pay is left out", "route_configuration public keeps its version"},
		},
		{
			"a listener that takes the address of another one",
			good(), plus(listener("also", 8080, "public"), slow(eds("cart"))),
			[]string{"listener also is left out"},
		},
		{
			"the same, where the other one has changed as well: only the taker is at fault",
			good(), plus(listener("also", 8080, "public"), buffered(listener("web", 8080, "public"))),
			[]string{"listener also is left out"},
		},
		{
			"a bad listener under a new name: the one that it replaces stays",
			good(), without(plus(listener("web-2", 8080, "nowhere")), "Listener/web"),
			[]string{"listener web is not removed, yet", "listener web-2 is left out"},
		},
		{
			"the same, where the one that has the address moves",
			good(), plus(refusedListener(listener("web-2", 8080, "public")), listener("web", 9090, "public")),
			[]string{"listener web keeps its version", "listener web-2 is left out"},
		},
		{
			"a bad listener that moves to the address of another one, which goes",
			plus(listener("web-2", 8081, "public")), without(plus(refusedListener(listener("web-2", 8080, "public"))), "Listener/web"),
			[]string{"listener web is not removed, yet", "listener web-2 keeps its version"},
		},
		{
			"a table that is no longer requested, since the listener that refers to it is left out",
			good(), without(plus(table("other", "cart"), refusedListener(listener("web", 8080, "other"))), "RouteConfiguration/public"),
			[]string{"listener web keeps its version", "route_configuration other is left out", "route_configuration public is not removed, yet"},
		},
		{
			"what a broken listener would ask for, if it were not broken",
			good(), plus(table("other", "cart"), &listenerv3.Listener{Name: "web", Address: address("0.0.0.0", 8080)}),
			[]string{"listener web keeps its version", "route_configuration other is left out"},
		},
		{
			"a table that a scope names goes away",
			plus(scoped("web", "scopes"), scope("a", "private"), table("private", "cart")), plus(scoped("web", "scopes"), scope("a", "private"), slow(eds("cart"))),
			[]string{"route_configuration private is not removed, yet"},
		},
		{
			"endpoints that are emptied since a table was to leave them, and that table stays",
			plus(table("public", "shop")), plus(table("public", "cart", "nowhere"), emptied(endpoints("shop", 80))),
			[]string{"cluster_load_assignment shop keeps its version", "route_configuration public keeps its version"},
		},
		{
			"the same, where what stays leads there over what has not changed",
			good(), without(plus(table("other", "cart"), refusedListener(listener("web", 8080, "other")), emptied(endpoints("shop", 80))), "RouteConfiguration/public"),
			[]string{"cluster_load_assignment shop keeps its version", "listener web keeps its version", "route_configuration other is left out", "route_configuration public is not removed, yet"},
		},
		{
			"endpoints that are emptied although the table was to go there still: that goes out, as for a service that is scaled to nothing",
			good(), plus(table("public", "shop", "cart", "nowhere"), emptied(endpoints("shop", 80))),
			[]string{"route_configuration public keeps its version"},
		},
		{
			"a table that was to leave endpoints stays, and they are other ones now: those go out",
			plus(table("public", "shop")), plus(table("public", "cart", "nowhere"), endpoints("shop", 81)),
			[]string{"route_configuration public keeps its version"},
		},
		{
			"a listener stays whose table leaves the endpoints that are emptied",
			plus(table("public", "shop")), plus(table("public", "cart"), refusedListener(listener("web", 8080, "public")), emptied(endpoints("shop", 80))),
			[]string{"listener web keeps its version"},
		},
		{
			"the first snapshot: what is good goes out",
			nil, plus(refused(eds("pay")), endpoints("pay", 80)),
			[]string{"cluster pay is left out", "cluster_load_assignment pay is left out"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := try(t, nil)
			if test.before != nil {
				g.must(admission.Admitted, snapshot(t, "v1", test.before...))
			}
			g.must(admission.Quarantined, snapshot(t, "v2", test.after...), test.withheld...)
			if again := g.must(admission.Quarantined, snapshot(t, "v2", test.after...), test.withheld...); again.Known != 0 {
				t.Errorf("%d errors are known, and none went out", again.Known)
			}
			fixed := snapshot(t, "v3", plus(slow(eds("shop")))...)
			g.must(admission.Admitted, fixed)
			if held, err := g.cache.GetSnapshot(node); err != nil || held != cachev3.ResourceSnapshot(fixed) {
				t.Error("the cache does not hold the very snapshot that was given")
			}
		})
	}
}

// A server of route configurations and endpoints for listeners and clusters of the bootstrap: the gate does not know what refers to them.
func TestTablesAlone(t *testing.T) {
	g := try(t, func(o *admission.Options) { o.Bootstrap = nil })
	g.must(admission.Quarantined, snapshot(t, "v1", table("public", "shop"), twice(table("private", "cart")), endpoints("shop", 80)),
		"route_configuration private is left out")
	g.must(admission.Quarantined, snapshot(t, "v2", table("public", "shop"), twice(table("private", "cart")), table("also", "cart"), endpoints("cart", 80)),
		"route_configuration private is left out")
}

// emptied is a load assignment without endpoints, as a service without pods has.
func emptied(a *endpointv3.ClusterLoadAssignment) *endpointv3.ClusterLoadAssignment {
	a.Endpoints = []*endpointv3.LocalityLbEndpoints{{}}
	return a
}

// retried is a route configuration that is changed and valid.
func retried(r *routev3.RouteConfiguration) *routev3.RouteConfiguration {
	r.MaxDirectResponseBodySizeBytes = wrapperspb.UInt32(8192)
	return r
}

// twice is a route configuration that Envoy rejects.
func twice(r *routev3.RouteConfiguration) *routev3.RouteConfiguration {
	r.VirtualHosts = append(r.VirtualHosts, proto.CloneOf(r.VirtualHosts[0]))
	return r
}

func TestVersions(t *testing.T) {
	g := try(t, nil)
	versions := func() map[string]string {
		s, err := g.cache.GetSnapshot(node)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{
			"clusters": s.GetVersion(resource.ClusterType), "endpoints": s.GetVersion(resource.EndpointType),
			"tables": s.GetVersion(resource.RouteType), "listeners": s.GetVersion(resource.ListenerType),
		}
	}
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")), slow(eds("cart")), table("public", "shop", "cart", "nowhere"))...),
		"cluster shop keeps its version", "route_configuration public keeps its version")
	first := versions()
	if first["endpoints"] != "v2" || first["listeners"] != "v2" {
		t.Errorf("nothing is withheld of these: %v", first)
	}
	if first["tables"] != "v1" {
		t.Errorf("the tables are as they were: %v", first)
	}
	if mixed := first["clusters"]; !strings.HasPrefix(mixed, "v2~") {
		t.Errorf("the clusters are old and new: %v", first)
	}
	g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")), refused(eds("cart")), table("public", "shop", "cart", "nowhere"))...),
		"cluster cart keeps its version", "cluster shop keeps its version", "route_configuration public keeps its version")
	if second := versions(); second["clusters"] != first["clusters"] {
		t.Errorf("the node has these clusters: %v, %v", first, second)
	}
}

func TestTTLsStay(t *testing.T) {
	short, long := time.Second, time.Hour
	with := func(version string, ttl *time.Duration, all ...types.Resource) *cachev3.Snapshot {
		s := snapshot(t, version, all...)
		items := s.Resources[types.Endpoint].Items
		for name, item := range items {
			items[name] = types.ResourceWithTTL{Resource: item.Resource, TTL: ttl}
		}
		return s
	}
	g := try(t, nil)
	g.must(admission.Admitted, with("v1", &short, good()...))
	bad := endpoints("shop", 80)
	bad.Endpoints[0].LbEndpoints[0].GetEndpoint().Address = address("no address", 80)
	g.must(admission.Quarantined, with("v2", &long, plus(bad)...), "cluster_load_assignment shop keeps its version")
	s, err := g.cache.GetSnapshot(node)
	if err != nil {
		t.Fatal(err)
	}
	items := s.GetResourcesAndTTL(resource.EndpointType)
	if *items["shop"].TTL != short || *items["cart"].TTL != long {
		t.Errorf("%s and %s", *items["shop"].TTL, *items["cart"].TTL)
	}
}

func TestWhatIsKnownDoesNotBlock(t *testing.T) {
	g := try(t, func(o *admission.Options) {
		o.Policies = []admission.RulePolicy{{Selector: "*", Policy: admission.Block}}
	})
	broken := plus(table("public", "shop", "nowhere", "cart"))
	if err := g.cache.SetSnapshot(t.Context(), node, snapshot(t, "v1", broken...)); err != nil { // past the gate
		t.Fatal(err)
	}
	d := g.must(admission.Admitted, snapshot(t, "v2", plus(slow(eds("cart")), table("public", "shop", "nowhere", "cart"))...))
	if d.Known != 1 {
		t.Errorf("%d errors are known", d.Known)
	}
	// In front of the known error another virtual host: it is at another index now.
	more := []types.Resource{eds("pay"), endpoints("pay", 80), table("public", "pay", "shop", "nowhere", "cart")}
	g.must(admission.Admitted, snapshot(t, "v3", plus(more...)...))
	// One more of the same, elsewhere.
	g.must(admission.Blocked, snapshot(t, "v4", plus(append(more, table("private", "nowhere"))...)...))
	g.must(admission.Blocked, snapshot(t, "v5", plus(append(more[:2], table("public", "nowhere", "pay", "shop", "elsewhere", "cart"))...)...))
	g.ClearSnapshot(node)
	d = g.must(admission.Blocked, snapshot(t, "v6", plus(table("public", "shop", "nowhere", "cart"))...))
	if d.Known != 0 || len(d.New) != 1 {
		t.Errorf("%d errors are known, and there is nothing that the node has", d.Known)
	}
}

// TestWhatIsKnownInOtherWords: the message about an unchanged resource changes when another resource that it names is removed.
func TestWhatIsKnownInOtherWords(t *testing.T) {
	g := try(t, nil)
	two := []types.Resource{listener("web-2", 8080, "public"), listener("web-3", 8080, "public")}
	if err := g.cache.SetSnapshot(t.Context(), node, snapshot(t, "v1", plus(two...)...)); err != nil {
		t.Fatal(err)
	}
	if d := g.must(admission.Admitted, snapshot(t, "v2", without(plus(two...), "Listener/web")...)); d.Known != 1 {
		t.Errorf("%d errors are known", d.Known)
	}
	g.must(admission.Quarantined, snapshot(t, "v3", without(plus(append(two, listener("web-4", 8080, "public"))...), "Listener/web")...),
		"listener web-4 is left out")
}

const ownType = "type.googleapis.com/example.Own"
