package admission_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
)

// nack is what a node says of clusters.
type nack string

func (n nack) Error() string { return "NACK: " + string(n) }

func (n nack) Rejected() (typeURL, message string) { return resource.ClusterType, string(n) }

// picky makes a gate whose node rejects some clusters that the gate has nothing against: those that are slow.
func picky(t *testing.T, says func(slow []string) nack, change func(*admission.Options)) *trial {
	var g *trial
	g = try(t, func(o *admission.Options) {
		o.Push = func(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
			var all []string
			for name, r := range s.GetResources(resource.ClusterType) {
				if strings.Contains(r.(interface{ String() string }).String(), "seconds:9") {
					all = append(all, name)
				}
			}
			if slices.Sort(all); len(all) > 0 {
				return says(all)
			}
			return g.cache.SetSnapshot(ctx, node, s)
		}
		if change != nil {
			change(o)
		}
	})
	return g
}

func named(slow []string) nack {
	return nack("Error adding/updating cluster(s) " + strings.Join(slow, ": too slow, ") + ": too slow")
}

func TestRejection(t *testing.T) {
	v2 := plus(slow(eds("cart")), slow(eds("pay")), endpoints("pay", 80), table("public", "shop", "cart", "pay"), endpoints("shop", 81),
		renamed(eds("shop"), "shop"))
	for _, test := range []struct {
		name     string
		says     func([]string) nack
		before   []types.Resource
		pushes   int
		withheld []string
	}{
		{
			"named", named, good(), 2,
			[]string{"cluster cart keeps its version", "cluster pay is left out", "cluster_load_assignment pay is left out", "route_configuration public keeps its version"},
		},
		{
			"one after another", func(slow []string) nack { return named(slow[:1]) }, good(), 3,
			[]string{"cluster cart keeps its version", "cluster pay is left out", "cluster_load_assignment pay is left out", "route_configuration public keeps its version"},
		},
		{
			"without names, all that changed", func([]string) nack { return "too slow" }, good(), 2,
			[]string{
				"cluster cart keeps its version", "cluster pay is left out", "cluster shop keeps its version", "cluster_load_assignment pay is left out",
				"route_configuration public keeps its version",
			},
		},
		{
			"another one is named first", func([]string) nack { return "it is not 'shop', or is it" }, good(), 3,
			[]string{
				"cluster cart keeps its version", "cluster pay is left out", "cluster shop keeps its version", "cluster_load_assignment pay is left out",
				"route_configuration public keeps its version",
			},
		},
		{
			"the first snapshot", named, nil, 2,
			[]string{
				"cluster cart is left out", "cluster pay is left out", "cluster_load_assignment cart is left out", "cluster_load_assignment pay is left out",
				"listener web is left out", "route_configuration public is left out",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := picky(t, test.says, nil)
			if test.before != nil {
				g.must(admission.Admitted, snapshot(t, "v1", test.before...))
			}
			g.decisions = nil
			if err := g.SetSnapshot(t.Context(), node, snapshot(t, "v2", v2...)); err != nil {
				t.Fatal(err)
			}
			if len(g.decisions) != test.pushes {
				t.Fatalf("%d decisions", len(g.decisions))
			}
			last := g.decisions[test.pushes-1]
			var got []string
			for _, w := range last.Withheld {
				got = append(got, string(w.Kind)+" "+w.Name+" "+string(w.How))
			}
			if !slices.Equal(got, test.withheld) || last.Outcome != admission.Quarantined || last.Rejected == nil {
				t.Errorf("%s (%v), withheld\n%s\nwant\n%s", last.Outcome, last.Rejected, strings.Join(got, "\n"), strings.Join(test.withheld, "\n"))
			}
			if why := last.Withheld[0].Why; !strings.HasPrefix(why, "the node rejected it") {
				t.Error(why)
			}
			held, err := g.GetSnapshot(node)
			if err != nil || held != last.Snapshot {
				t.Error("another snapshot is pushed", err)
			}
			g.must(admission.Admitted, snapshot(t, "v3", good()...))
		})
	}
}

// What a rule finds and what the node rejects are withheld together.
func TestRejectionAndErrors(t *testing.T) {
	g := picky(t, named, nil)
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	if err := g.SetSnapshot(t.Context(), node, snapshot(t, "v2", plus(slow(eds("cart")), refused(eds("shop")), endpoints("shop", 81))...)); err != nil {
		t.Fatal(err)
	}
	if last := g.decisions[2]; len(last.Withheld) != 2 || len(last.New) != 1 || last.Rejected == nil {
		t.Errorf("%v, new %v", last.Withheld, findings(last))
	}
}

func TestRejectionOfAll(t *testing.T) {
	g := picky(t, named, nil)
	err := g.SetSnapshot(t.Context(), node, snapshot(t, "v1", slow(eds("cart")), endpoints("cart", 80)))
	var blocked *admission.BlockedError
	var rejected nack
	if !errors.As(err, &blocked) || !errors.As(err, &rejected) || len(g.decisions) != 2 {
		t.Fatal(err, len(g.decisions))
	}
	if want := `node "edge-1" keeps what it has: NACK: Error adding/updating cluster(s) cart: too slow`; err.Error() != want {
		t.Error(err)
	}
}

// Without Quarantine a rejection is only returned.
func TestRejectionIsReturned(t *testing.T) {
	for _, policy := range []admission.Policy{admission.Observe, admission.Block} {
		g := picky(t, named, func(o *admission.Options) { o.Policy = policy })
		var rejected nack
		err := g.SetSnapshot(t.Context(), node, snapshot(t, "v1", plus(slow(eds("cart")))...))
		if !errors.As(err, &rejected) || len(g.decisions) != 1 {
			t.Error(err, len(g.decisions))
		}
	}
}

// A newer snapshot takes precedence over what is left of one that was rejected.
func TestRejectionSuperseded(t *testing.T) {
	d := &driver{started: make(chan string), finish: make(chan error)}
	g := try(t, func(o *admission.Options) {
		o.Push = func(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
			if err := d.push(ctx, node, s); !errors.Is(err, admission.ErrSuperseded) {
				return err
			}
			return nack("cart") // that came just before
		}
	})
	d.cache = g.cache
	results := make(chan error, 2)
	set := func(s *cachev3.Snapshot) {
		go func() { results <- g.SetSnapshot(context.Background(), node, s) }()
		<-d.started
	}
	set(snapshot(t, "v1", plus(slow(eds("cart")))...))
	set(snapshot(t, "v2", good()...))
	if err := <-results; !errors.Is(err, admission.ErrSuperseded) {
		t.Error(err)
	}
	d.finish <- nil
	if err := <-results; err != nil {
		t.Error(err)
	}
	if held, _ := g.GetSnapshot(node); held.GetVersion(resource.ClusterType) != "v2" {
		t.Error(held)
	}
}
