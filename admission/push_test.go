package admission_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
)

// driver is a push that takes its time.
type driver struct {
	cache   cachev3.SnapshotCache
	started chan string
	finish  chan error
}

func (d *driver) push(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
	d.started <- s.GetVersion(resource.ListenerType)
	select {
	case err := <-d.finish:
		if err != nil {
			return err
		}
		return d.cache.SetSnapshot(ctx, node, s)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestPush(t *testing.T) {
	d := &driver{started: make(chan string), finish: make(chan error)}
	g := try(t, func(o *admission.Options) { o.Push = d.push })
	d.cache = g.cache
	set := func(s *cachev3.Snapshot) chan error {
		result := make(chan error, 1)
		go func() { result <- g.SetSnapshot(context.Background(), node, s) }()
		if got, want := <-d.started, s.GetVersion(resource.ListenerType); got != want {
			t.Fatalf("%s is pushed, want %s", got, want)
		}
		return result
	}
	first := set(snapshot(t, "v1", good()...))
	second := set(snapshot(t, "v2", plus(slow(eds("cart")))...))
	if err := <-first; !errors.Is(err, admission.ErrSuperseded) {
		t.Error(err)
	}
	d.finish <- nil
	if err := <-second; err != nil {
		t.Error(err)
	}
	// What was pushed last is what the node has: the table's error is known while that push is under way, and new when it has failed.
	third := set(snapshot(t, "v3", plus(eds("pay"), endpoints("pay", 80), table("public", "shop", "cart", "pay"))...))
	fourth := set(snapshot(t, "v4", plus(refused(eds("pay")), endpoints("pay", 80), table("public", "shop", "cart", "pay"))...))
	if err := <-third; !errors.Is(err, admission.ErrSuperseded) {
		t.Error(err)
	}
	if got := g.decisions[3].Withheld; len(got) != 1 || got[0].Name != "pay" || got[0].How != admission.Kept {
		t.Errorf("what was on its way does not count: %v", got)
	}
	failed := errors.New("no Envoy answers")
	d.finish <- failed
	if err := <-fourth; !errors.Is(err, failed) {
		t.Error(err)
	}
	fifth := set(snapshot(t, "v5", plus(refused(eds("pay")), endpoints("pay", 80), table("public", "shop", "cart", "pay"))...))
	if got := g.decisions[4].Withheld; len(got) != 3 || got[0].How != admission.LeftOut {
		t.Errorf("what has failed counts: %v", got)
	}
	d.finish <- nil
	if err := <-fifth; err != nil {
		t.Error(err)
	}
}

// TestPanicsOfOthers: a panic of a push or of a report ends only that call. The next snapshot for the node is judged as usual.
func TestPanicsOfOthers(t *testing.T) {
	for what, change := range map[string]func(*admission.Options){
		"report": func(o *admission.Options) { o.Report = func(admission.Decision) { panic("oops") } },
		"push": func(o *admission.Options) {
			o.Push = func(context.Context, string, cachev3.ResourceSnapshot) error { panic("oops") }
		},
	} {
		g := try(t, change)
		for range 2 {
			func() {
				defer func() {
					if p := recover(); p != "oops" {
						t.Errorf("%s: %v", what, p)
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				t.Error(what, g.SetSnapshot(ctx, node, snapshot(t, "v1", good()...)))
			}()
		}
		g.ClearSnapshot(node)
	}
}

// With Pushed, SetSnapshot does not wait for the push, whose order is that of the calls. What the node rejects is withheld as usual.
func TestPushed(t *testing.T) {
	d := &driver{started: make(chan string, 1), finish: make(chan error)}
	results := make(chan error, 1)
	g := try(t, func(o *admission.Options) {
		o.Push, o.Pushed = d.push, func(name string, err error) {
			if name != node {
				t.Error(name)
			}
			results <- err
		}
	})
	d.cache = g.cache
	set := func(s *cachev3.Snapshot) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel() // as a request that is over
		if err := g.SetSnapshot(ctx, node, s); err != nil {
			t.Fatal(err)
		}
		if got, want := <-d.started, s.GetVersion(resource.ListenerType); got != want {
			t.Fatalf("%s is pushed, want %s", got, want)
		}
	}
	ends := func(want error) {
		t.Helper()
		if err := <-results; !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	set(snapshot(t, "v1", good()...))
	set(snapshot(t, "v2", good()...))
	ends(admission.ErrSuperseded)
	d.finish <- nil
	ends(nil)
	set(snapshot(t, "v3", plus(slow(eds("cart")), buffered(listener("web", 8080, "public")))...))
	d.finish <- nack("cart")
	<-d.started
	d.finish <- nil
	ends(nil)
	if last := g.decisions[len(g.decisions)-1]; len(last.Withheld) != 1 {
		t.Error(last.Withheld)
	}
	set(snapshot(t, "v4", good()...))
	g.ClearSnapshot(node)
	ends(context.Canceled)
	if err := g.SetSnapshot(t.Context(), node, snapshot(t, "v5", refused(static("own")))); err == nil {
		t.Error("nothing is pushed, and no error")
	}
}

func TestClearEndsPush(t *testing.T) {
	d := &driver{started: make(chan string), finish: make(chan error)}
	g := try(t, func(o *admission.Options) { o.Push = d.push })
	result := make(chan error, 1)
	go func() { result <- g.SetSnapshot(context.Background(), node, snapshot(t, "v1", good()...)) }()
	<-d.started
	g.ClearSnapshot(node)
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestClear(t *testing.T) {
	g := try(t, nil)
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.ClearSnapshot(node)
	if _, err := g.GetSnapshot(node); err == nil {
		t.Error("the cache still holds it")
	}
	g.must(admission.Quarantined, snapshot(t, "v2", plus(refused(eds("shop")))...),
		"cluster shop is left out", "cluster_load_assignment shop is left out", "listener web is left out", "route_configuration public is left out")
}

// TestManyAtOnce: snapshots are set concurrently for many nodes and for one, some are bad, and some nodes are cleared in between. In the end, no node has
// a bad one.
func TestManyAtOnce(t *testing.T) {
	g := try(t, func(o *admission.Options) { o.Report = nil })
	fine, bad := snapshot(t, "good", good()...), snapshot(t, "bad", plus(refused(eds("shop")))...)
	var all sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprint("node-", i%4)
		all.Go(func() {
			for j := range 6 {
				s := fine
				if j%2 == 1 {
					s = bad
				}
				if err := g.SetSnapshot(context.Background(), name, s); err != nil {
					t.Error(err)
				}
				if j == 3 {
					g.ClearSnapshot(name)
				}
			}
		})
	}
	all.Wait()
	for _, name := range []string{"node-0", "node-1", "node-2", "node-3"} {
		held, err := g.GetSnapshot(name)
		if err != nil {
			continue
		}
		if c, ok := held.GetResources(resource.ClusterType)["shop"].(*clusterv3.Cluster); ok && c.ConnectTimeout.AsDuration() == 0 {
			t.Errorf("%s has what is bad", name)
		}
	}
}
