package admission_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// lingers is a rule that takes a time for each cluster whose name begins with a prefix, or less if the run ends.
func lingers(prefix string, takes time.Duration) *lint.Rule {
	check := func(p *lint.Pass, _ lint.At, c *clusterv3.Cluster) {
		for began := time.Now(); strings.HasPrefix(c.GetName(), prefix) && time.Since(began) < takes && !p.Full(); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "lingers", Severity: lint.Error, Run: lint.Each(check)})
}

const forever = 1000 * time.Hour

// late runs a test with a gate that has the rule, and a deadline of a second.
func late(t *testing.T, rule *lint.Rule, change func(*admission.Options), f func(t *testing.T, g *trial)) {
	t.Helper()
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f(t, try(t, func(o *admission.Options) {
				o.Rules, o.Deadline, o.FailClosed = append(rules.Builtin(), rule), time.Second, closed
				if change != nil {
					change(o)
				}
			}))
			time.Sleep(time.Second) // until no rule runs
		})
	}
}

// soon checks that a decision is made in time.
func (g *trial) soon(f func() admission.Decision) admission.Decision {
	g.t.Helper()
	began := time.Now()
	d := f()
	if took := time.Since(began); took > time.Second {
		g.t.Errorf("it took %s", took)
	}
	return d
}

// TestSlowResource: a resource that takes too long to judge is withheld. Bad ones do not pass because of it, and good ones do.
func TestSlowResource(t *testing.T) {
	late(t, lingers("hostile", forever), nil, func(t *testing.T, g *trial) {
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		after := plus(eds("hostile"), endpoints("hostile", 80), refused(eds("shop")), table("public", "shop", "cart", "nowhere"), slow(eds("cart")), endpoints("cart", 81))
		slowAssignment := admission.Withheld{Kind: graph.ClusterLoadAssignment, Name: "hostile", How: admission.LeftOut, Why: "it was not judged in time"}
		for range 2 {
			d := g.soon(func() admission.Decision {
				return g.must(admission.Quarantined, snapshot(t, "v2", after...), "cluster hostile is left out", "cluster shop keeps its version",
					"cluster_load_assignment hostile is left out", "route_configuration public keeps its version")
			})
			if got := findings(d); !d.TimedOut || len(got) != 2 || !slices.Contains(d.Withheld, slowAssignment) {
				t.Errorf("%v, %v, %v", d.TimedOut, got, d.Withheld)
			}
		}
		held, _ := g.GetSnapshot(node)
		out := content(held)
		if c, _ := out["Cluster/cart"].(*clusterv3.Cluster); c.GetConnectTimeout().GetSeconds() != 9 {
			t.Errorf("a good change is not pushed: %v", out)
		}
		g.must(admission.Admitted, snapshot(t, "v3", plus(slow(eds("cart")))...))
	})
}

// TestManySlowResources: the search for what is slow ends in time, and what it did not get to is withheld.
func TestManySlowResources(t *testing.T) {
	var after []types.Resource
	for _, letter := range "abcdefghijklmnopqrstuvwxyz" {
		name := "hostile-" + string(letter)
		after = append(after, eds(name), endpoints(name, 80))
	}
	late(t, lingers("hostile", forever), nil, func(t *testing.T, g *trial) {
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		d := g.soon(func() admission.Decision {
			d, _ := g.set(snapshot(t, "v2", plus(append(after, refused(eds("shop")))...)...))
			return d
		})
		if !d.TimedOut || d.Snapshot != nil && len(d.Withheld) < len(after) {
			t.Errorf("%s, withheld: %v", d.Outcome, d.Withheld)
		}
		if held, _ := g.GetSnapshot(node); content(held)["Cluster/hostile-a"] != nil || content(held)["Cluster/shop"].(*clusterv3.Cluster).GetConnectTimeout().GetSeconds() == 0 {
			t.Error("it was pushed")
		}
	})
}

// TestSlowFirstSnapshot: a first snapshot is pushed without what is slow.
func TestSlowFirstSnapshot(t *testing.T) {
	late(t, lingers("hostile", forever), nil, func(t *testing.T, g *trial) {
		first := plus(eds("hostile"), endpoints("hostile", 80), refused(eds("bad")))
		d := g.soon(func() admission.Decision {
			return g.must(admission.Quarantined, snapshot(t, "v1", first...), "cluster bad is left out", "cluster hostile is left out", "cluster_load_assignment hostile is left out")
		})
		if !d.TimedOut {
			t.Error("it was judged in time")
		}
	})
}

// TestEverythingIsSlow: the node keeps what it has if that was judged. If nothing was judged, FailClosed decides.
func TestEverythingIsSlow(t *testing.T) {
	var g *trial
	passes := func(s cachev3.ResourceSnapshot) {
		g.t.Helper()
		outcome := admission.Admitted
		if g.closed() {
			outcome = admission.Blocked
		}
		if d := g.soon(func() admission.Decision { return g.must(outcome, s) }); !d.TimedOut {
			g.t.Error("it was judged in time")
		}
	}
	changed := plus(slow(eds("shop")), slow(eds("cart")))
	late(t, lingers("", forever), nil, func(t *testing.T, made *trial) {
		g = made
		passes(snapshot(t, "v1", good()...))
		passes(snapshot(t, "v2", changed...))
	})
	late(t, lingers("", forever), func(o *admission.Options) { o.Rules[len(o.Rules)-1] = lingersAfter(1) }, func(t *testing.T, made *trial) {
		g = made
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		g.soon(func() admission.Decision {
			return g.must(admission.Quarantined, snapshot(t, "v2", changed...), "cluster cart keeps its version", "cluster shop keeps its version")
		})
	})
}

// lingersAfter is a rule over snapshots that lingers after some runs.
func lingersAfter(runs int) *lint.Rule {
	return (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "lingers", Severity: lint.Error, Run: lint.ForSnapshot(func(p *lint.Pass) {
		_ = p.Snapshot.All() // so it is called for each change
		for runs--; runs < 0 && !p.Full(); {
			time.Sleep(10 * time.Millisecond)
		}
	})})
}

func (g *trial) closed() bool { return g.options.FailClosed }

// What is not judged in time is treated as an error is, by the policy. Errors that were found by then count.
func TestLatePolicies(t *testing.T) {
	after := plus(eds("hostile"), endpoints("hostile", 80))
	bad := append(slices.Clone(after), refused(eds("pay")), endpoints("pay", 80))
	for policy, want := range map[admission.Policy]struct{ unknown, known admission.Outcome }{
		admission.Observe:    {admission.Admitted, admission.Observed},
		admission.Block:      {admission.Blocked, admission.Blocked},
		admission.Quarantine: {admission.Quarantined, admission.Quarantined},
	} {
		late(t, lingers("hostile", forever), func(o *admission.Options) { o.Policy = policy }, func(t *testing.T, g *trial) {
			g.must(admission.Admitted, snapshot(t, "v1", good()...))
			if g.closed() && policy == admission.Observe {
				want.unknown, want.known = admission.Blocked, admission.Blocked
			}
			if d, _ := g.set(snapshot(t, "v2", bad...)); d.Outcome != want.known || len(d.New) != 1 {
				t.Errorf("policy %d: %s, new %v", policy, d.Outcome, findings(d))
			}
			if d, _ := g.set(snapshot(t, "v3", after...)); d.Outcome != want.unknown {
				t.Errorf("policy %d: %s", policy, d.Outcome)
			}
		})
	}
	some := []admission.RulePolicy{{Selector: "schema", Policy: admission.Quarantine}}
	late(t, lingers("hostile", forever), func(o *admission.Options) { o.Policy, o.Policies, o.FailClosed = admission.Observe, some, false }, func(t *testing.T, g *trial) {
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		g.must(admission.Quarantined, snapshot(t, "v2", bad...), "cluster pay is left out", "cluster_load_assignment pay is left out")
	})
}

// TestSlowHazards: a search for hazards that does not end loses nothing that the rules found.
func TestSlowHazards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		defer close(until)
		g := try(t, func(o *admission.Options) {
			o.Deadline = time.Second
			o.Hazards = func(_, _ *graph.Snapshot) *lint.Result {
				<-until
				return nil
			}
		})
		g.must(admission.Admitted, snapshot(t, "v1", good()...))
		d := g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")), slow(eds("cart")))...), "cluster shop keeps its version")
		if !d.TimedOut || len(d.New) != 1 {
			t.Errorf("%v, %v", d.TimedOut, findings(d))
		}
	})
}

// Whatever else is in a push, what is slow does not hide an error, and does not get through itself.
func TestRandomSlowSnapshots(t *testing.T) {
	boot := bootstrap(t)
	rapid.Check(t, func(rt *rapid.T) {
		before, after := without(world(rt, "old"), "Cluster/c1"), world(rt, "new")
		old, next := made(rt, "v1", before), made(rt, "v2", after)
		slow := content(next)["Cluster/c1"] != nil
		var d admission.Decision
		var served cachev3.ResourceSnapshot
		synctest.Test(t, func(t *testing.T) {
			g := try(t, func(o *admission.Options) {
				o.Rules, o.Bootstrap, o.Deadline = append(rules.Builtin(), lingers("c1", forever)), boot, time.Second
			})
			if err := g.cache.SetSnapshot(t.Context(), node, old); err != nil {
				t.Fatal(err)
			}
			d, _ = g.set(next)
			time.Sleep(time.Second) // until no rule runs
			served, _ = g.cache.GetSnapshot(node)
		})
		rt.Logf("%s, new %v, withheld %v", d.Outcome, findings(d), d.Withheld)
		if slow != d.TimedOut || content(served)["Cluster/c1"] != nil {
			rt.Fatal("what is slow gets through")
		}
		checkNoNewErrors(rt, boot, old, served)
	})
}
