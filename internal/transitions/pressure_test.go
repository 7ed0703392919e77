package transitions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/plan"
	"github.com/xdslint/xdslint/plan/apply"
)

// ending is how a push ends before it is done.
type ending string

const (
	superseded ending = "superseded" // by a push of another snapshot, in which every cluster is another one
	rolledBack ending = "rolled back"
	cancelled  ending = "cancelled"
	restarted  ending = "restarted" // the control plane is killed
)

var endings = []ending{superseded, rolledBack, cancelled, restarted}

// pressured pushes the new snapshot of a case again and again, and ends the push after its first SetSnapshot, then after its second, and
// so on until none is left, or for most times. Each time the Envoy returns to the old snapshot.
func pressured(how ending, most int) runner {
	return func(ctx context.Context, c *Case, m Mode) (*Result, error) {
		ctx = context.WithoutCancel(ctx) // dozens of pushes take longer than one may; each of them ends by itself
		tracker := apply.NewTracker()
		r, err := open(ctx, c, m, newRecorder(tracker))
		if err != nil {
			return nil, err
		}
		defer r.close()
		other, err := slower(r.after.pushed)
		if err != nil {
			return nil, err
		}
		d := &driver{run: r, tracker: tracker, how: how, most: most, other: other}
		return r.transit(ctx, targets(r.before, r.after, c.Follow), func() error { return d.endAll(ctx) })
	}
}

// driver is a control plane that pushes with plan/apply.
type driver struct {
	*run
	tracker *apply.Tracker
	how     ending
	most    int
	other   *cachev3.Snapshot

	mu   sync.Mutex
	kept cachev3.ResourceSnapshot // what a control plane finds after a crash
}

// endAll ends a push after each of its SetSnapshots.
func (d *driver) endAll(ctx context.Context) error {
	for sets := 1; sets <= d.most; sets++ {
		ended, err := d.endAfter(ctx, sets)
		if err == nil {
			err = d.begin(ctx, d.cp.cache, nil, d.before.pushed).Wait()
		}
		if err != nil || !ended {
			return d.failed(sets, err)
		}
	}
	return nil
}

func (d *driver) failed(sets int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s after SetSnapshot %d: %w", d.how, sets, err)
}

// endAfter pushes the new snapshot, and ends that after some SetSnapshots: at once, or in the middle of a round trip. It reports whether there
// were so many.
func (d *driver) endAfter(ctx context.Context, sets int) (bool, error) {
	counted := &counting{SnapshotCache: d.cp.cache, left: sets, reached: make(chan struct{})}
	pushing, cancel := context.WithCancel(ctx)
	defer cancel()
	push := d.begin(pushing, counted, nil, d.after.pushed)
	done := make(chan error, 1)
	go func() { done <- push.Wait() }()
	select {
	case <-counted.reached:
	case err := <-done:
		return false, err
	}
	if sets%2 == 0 {
		time.Sleep(d.mode.RTT * 2 / 5)
	}
	switch d.how {
	case superseded:
		return true, d.begin(ctx, d.cp.cache, nil, d.other).Wait()
	case rolledBack:
		return true, nil // which is what happens next
	case restarted:
		counted.die()
		cancel()
		d.tracker = apply.NewTracker()
		d.wire = d.wire.again(d.tracker)
		if err := d.cp.restart(d.wire, d.mode.Push.Transport); err != nil {
			return true, err
		}
		return true, d.begin(ctx, d.cp.cache, d.found(), d.after.pushed).Wait()
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		return true, err
	}
	time.Sleep(late / 10) // requests find what is left
	return true, nil
}

func (d *driver) begin(ctx context.Context, cache cachev3.SnapshotCache, before, after cachev3.ResourceSnapshot) *apply.Push {
	return apply.Begin(ctx, cache, node, before, after, apply.Options{
		Tracker: d.tracker,
		Plan:    plan.Options{Push: d.mode.Push, AckTimeout: patience, DrainTime: envoytest.DrainTime},
		Progress: func(e apply.Event) {
			if e.Snapshot != nil {
				d.keep(cache, e.Snapshot)
			}
		},
	})
}

// keep keeps what a push is about to send, unless its control plane is dead.
func (d *driver) keep(cache cachev3.SnapshotCache, s cachev3.ResourceSnapshot) {
	if c, ok := cache.(*counting); ok && c.dead() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = s
}

func (d *driver) found() cachev3.ResourceSnapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept
}

// slower is a snapshot with other clusters of the same names, except for those whose replacement ends calls: a plan says that no order spares these.
func slower(s *cachev3.Snapshot) (*cachev3.Snapshot, error) {
	g, err := gocp.Snapshot(s)
	if err != nil {
		return nil, err
	}
	other := *s
	items := maps.Clone(s.Resources[types.Cluster].Items)
	for _, r := range g.All(graph.Cluster) {
		if slices.ContainsFunc(g.To(r), func(e *graph.Edge) bool { _, impact := envoy.Interrupted(e); return impact > envoy.TrafficServed }) {
			continue
		}
		c := proto.CloneOf(r.Message.(*clusterv3.Cluster))
		c.ConnectTimeout = durationpb.New(c.GetConnectTimeout().AsDuration() + time.Second)
		items[r.Name] = types.ResourceWithTTL{Resource: c, TTL: items[r.Name].TTL}
	}
	other.Resources[types.Cluster] = cachev3.Resources{Version: "other", Items: items}
	return &other, nil
}

// counting is a cache that notices when it has been set some times, and that can die.
type counting struct {
	cachev3.SnapshotCache
	mu      sync.Mutex
	left    int
	reached chan struct{}
	killed  bool
}

func (c *counting) SetSnapshot(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return errors.New("the control plane is dead")
	}
	err := c.SnapshotCache.SetSnapshot(ctx, node, s)
	if c.left--; c.left == 0 {
		close(c.reached)
	}
	return err
}

func (c *counting) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = true
}

func (c *counting) dead() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed
}
