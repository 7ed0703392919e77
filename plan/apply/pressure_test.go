package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
)

// counting is a cache that notices when it has been set some times, and that can die.
type counting struct {
	cachev3.SnapshotCache
	mu     sync.Mutex
	left   int
	then   func() // called once left is 0
	killed bool
	kept   cachev3.ResourceSnapshot // what a control plane finds after a crash
}

func (c *counting) SetSnapshot(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return errors.New("the control plane is dead")
	}
	err := c.SnapshotCache.SetSnapshot(ctx, node, s)
	if c.left--; c.left == 0 {
		c.then()
	}
	return err
}

// keep is a Progress that keeps what is about to be sent.
func (c *counting) keep(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Snapshot != nil && !c.killed {
		c.kept = e.Snapshot
	}
}

// TestPressure ends a push after each of its SetSnapshots, in each way. What is then in the cache is closed, no route ever leads to a cluster
// that the Envoy does not have, and the next push arrives.
func TestPressure(t *testing.T) {
	t.Parallel()
	targets := map[string]config{"rerouted": rerouted, "changed": changed, "renamed": renamed}
	for how, end := range map[string]func(*pressed, config, int) bool{
		"superseded": (*pressed).superseded, "cancelled": (*pressed).cancelled, "killed": (*pressed).killed,
	} {
		for name, target := range targets {
			overEach(t, func(t *testing.T, transport lint.Transport) {
				t.Run(how+"/"+name, func(t *testing.T) {
					for sets := 1; ; sets++ {
						p, envoys := start(t, transport, plain, 1)
						one := &pressed{t: t, plane: p, envoy: envoys[0], transport: transport}
						if !end(one, target, sets) {
							break
						}
					}
				})
			})
		}
	}
}

// pressed is a push that is to end early.
type pressed struct {
	t         *testing.T
	plane     *plane
	envoy     *fake
	transport lint.Transport
}

// push begins a push that calls then after some SetSnapshots.
func (p *pressed) push(ctx context.Context, target config, sets int, then func()) (*Push, *counting) {
	c := &counting{SnapshotCache: p.plane.cache, left: sets, then: then}
	opts := options(p.plane)
	opts.Progress = c.keep
	return Begin(ctx, c, "edge", nil, target.snapshot(p.t, "v2", p.transport), opts), c
}

// superseded by a snapshot with which nothing of the target fits.
func (p *pressed) superseded(target config, sets int) bool {
	after := config{
		listeners: map[string]string{"l": "r3"}, routes: map[string]string{"r3": "c1"},
		clusters: map[string]time.Duration{"c1": 3 * time.Second, "c3": time.Second},
	}.snapshot(p.t, "v3", p.transport)
	begun := make(chan *Push, 1)
	first, _ := p.push(p.t.Context(), target, sets, func() {
		begun <- Begin(context.Background(), p.plane.cache, "edge", nil, after, options(p.plane))
	})
	if err := first.Wait(); err != nil && !errors.Is(err, ErrSuperseded) {
		p.t.Error(err)
	}
	select {
	case second := <-begun:
		if err := second.Wait(); err != nil {
			p.t.Fatalf("after SetSnapshot %d: %v", sets, err)
		}
		p.envoy.serves(after)
		p.plane.holds(p.t, after)
		return true
	default:
		return false
	}
}

func (p *pressed) cancelled(target config, sets int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first, _ := p.push(ctx, target, sets, cancel)
	err := first.Wait()
	if err != nil && !errors.Is(err, context.Canceled) {
		p.t.Error(err)
	}
	held, _ := p.plane.cache.GetSnapshot("edge")
	if left := dangling(p.t, held); len(left) > 0 {
		p.t.Errorf("after SetSnapshot %d the cache holds references to what it lacks: %v", sets, left)
	}
	after := target.snapshot(p.t, "v3", p.transport)
	if again := push(p.plane, after, options(p.plane)); again != nil {
		p.t.Fatalf("after SetSnapshot %d: %v", sets, again)
	}
	p.envoy.serves(after)
	return err != nil
}

// killed is a control plane that ends at once; the next one has only what it kept.
func (p *pressed) killed(target config, sets int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var c *counting
	ready := make(chan struct{})
	first, c := p.push(ctx, target, sets, func() { <-ready; c.killed = true; cancel() })
	close(ready)
	died := first.Wait() != nil
	next := newPlane(p.t, p.transport)
	p.envoy.moves(next)
	after := target.snapshot(p.t, "v3", p.transport)
	opts := options(next)
	opts.Plan.DrainTime = 100 * time.Millisecond // what no listener leads to may be in use for so long
	if err := Run(context.Background(), next.cache, "edge", c.kept, after, opts); err != nil {
		p.t.Fatalf("killed after SetSnapshot %d: %v", sets, err)
	}
	p.envoy.serves(after)
	next.holds(p.t, after)
	return died
}

// dangling lists the references of a snapshot to what it lacks.
func dangling(t *testing.T, s cachev3.ResourceSnapshot) []string {
	t.Helper()
	g, err := gocp.Snapshot(s)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range g.References() {
		if e.To == nil && e.Target != "xds" && slices.Contains([]graph.Kind{graph.Cluster, graph.ClusterLoadAssignment, graph.RouteConfiguration}, e.Kind) {
			all = append(all, fmt.Sprintf("%s %s → %s %s", e.From.Kind, e.From.Name, e.Kind, e.Target))
		}
	}
	return all
}

// The order of two pushes is the order of Begin, however long the first one takes to load.
func TestBegin(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	var all []*Push
	for i := range 20 {
		target := []config{renamed, plain, changed}[i%3]
		all = append(all, Begin(t.Context(), p.cache, "edge", nil, target.snapshot(t, fmt.Sprint("s", i), lint.ADSSotW), options(p)))
	}
	after := rerouted.snapshot(t, "last", lint.ADSSotW)
	last := Begin(t.Context(), p.cache, "edge", nil, after, options(p))
	if err := last.Wait(); err != nil {
		t.Fatal(err)
	}
	for i, one := range all {
		if err := one.Wait(); err != nil && !errors.Is(err, ErrSuperseded) { // a push that changes nothing can end before the next one begins
			t.Errorf("push %d: %v", i, err)
		}
	}
	envoys[0].serves(after)
	p.holds(t, after)
}
