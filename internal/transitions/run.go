package transitions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

// Mode is how a case is run.
type Mode struct {
	Planned bool // by plan and apply; else all at once
	Push    lint.Push
	RTT     time.Duration // between the control plane and Envoy
	Rate    Rate
}

// Rates: the first is for measurements, the second for several Envoys on a small machine with the race detector.
var (
	FullRate  = Rate{KeepAlive: 300, Fresh: 60}
	SmallRate = Rate{KeepAlive: 100, Fresh: 40}
)

// Times of a run.
const (
	warmUp = 300 * time.Millisecond
	// Connections on a listener that drains are closed by the end of the drain time.
	observe = envoytest.DrainTime + time.Second
	// What has not been applied by then is called warming.
	late = 5 * time.Second
)

// Run takes one Envoy through a transition while clients send requests.
func Run(ctx context.Context, c *Case, m Mode) (*Result, error) {
	push, wire := naive, newRecorder(serverv3.CallbackFuncs{})
	if m.Planned {
		push, wire = planned(m)
	}
	r, err := open(ctx, c, m, wire)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.transit(ctx, targets(r.before, r.after, c.Follow), func() error {
		return push(ctx, r.cp.cache, r.before.pushed, r.after.pushed)
	})
}

// run is an Envoy with its control plane and everything that a case needs around them.
type run struct {
	mode          Mode
	steady        bool
	place         *place
	before, after *half
	wire          *recorder
	cp            *controlPlane
	envoy         *envoytest.Envoy
}

// open starts an Envoy, and returns when it has the old snapshot. Close it.
func open(ctx context.Context, c *Case, m Mode, wire *recorder) (*run, error) {
	r := &run{mode: m, steady: c.Steady, wire: wire}
	if err := r.open(ctx, c); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *run) open(ctx context.Context, c *Case) (err error) {
	transport := r.mode.Push.Transport
	if r.place, err = newPlace(transport); err != nil {
		return err
	}
	if r.before, r.after, err = r.place.halves(c, r.mode.Push.Versions); err != nil {
		return err
	}
	if r.cp, err = startControlPlane(r.wire, transport, r.mode.RTT); err != nil {
		return err
	}
	if err = r.cp.cache.SetSnapshot(ctx, node, r.before.pushed); err != nil {
		return err
	}
	r.envoy, err = r.cp.serve(ctx, transport, r.before.bootstrap)
	return err
}

func (r *run) close() {
	if r.envoy != nil {
		r.envoy.Close()
	}
	if r.cp != nil {
		r.cp.close()
	}
	if r.place != nil {
		r.place.close()
	}
}

// transit pushes while clients send requests to those targets that answer before the push. It watches until nothing changes any more.
func (r *run) transit(ctx context.Context, ts []*target, push func() error) (*Result, error) {
	certificate, err := r.place.authority.pair("client")
	if err != nil {
		return nil, err
	}
	result := &Result{}
	ts, result.Unanswered = sift(ctx, ts, certificate)
	clients := gather(ts, certificate, r.mode.Rate, r.steady)
	clients.start()
	defer clients.stop()
	time.Sleep(warmUp)

	nacks, _ := r.wire.seen()
	rebuilt := r.stat(ctx, "cluster_manager.cluster_modified")
	if early := clients.count(); len(early.failures) > 0 {
		result.Unanswered = append(result.Unanswered, fmt.Sprintf("before the push: %v", early.failures))
	}
	began := time.Now()
	result.Err = push()
	pushed := time.Since(began)
	// A push that waited for drained connections has seen all of it.
	r.settle(ctx, began, time.Now())

	all, answered := r.wire.seen()
	result.Nacks = all[len(nacks):]
	result.Applied = max(answered.Sub(began), pushed)
	result.Unacked = r.wire.unanswered()
	result.Warming = r.stat(ctx, "cluster_manager.warming_clusters") + r.stat(ctx, "listener_manager.total_listeners_warming")
	result.Rebuilt = r.stat(ctx, "cluster_manager.cluster_modified") - rebuilt
	if s, err := r.cp.cache.GetSnapshot(node); err == nil {
		result.Undelivered = r.wire.undelivered(s)
	}
	result.tally(clients.stop())
	result.Crashed = r.envoy.Crashed()
	return result, ctx.Err()
}

// settle watches the connections for as long as they drain, and waits until what is unfinished counts as late.
func (r *run) settle(ctx context.Context, began, pushed time.Time) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for time.Since(pushed) < observe || time.Since(began) < late && !r.applied(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r.envoy.Crashed() {
			return
		}
	}
}

func (r *run) applied(ctx context.Context) bool {
	return len(r.wire.unanswered()) == 0 &&
		r.stat(ctx, "cluster_manager.warming_clusters")+r.stat(ctx, "listener_manager.total_listeners_warming") == 0
}

// stat returns a counter or a gauge, or 0 if Envoy has ended.
func (r *run) stat(ctx context.Context, name string) int {
	body, err := r.envoy.Admin(ctx, "/stats?format=json&filter=^"+strings.ReplaceAll(name, ".", `\.`)+"$")
	if err != nil {
		return 0
	}
	var page struct {
		Stats []struct{ Value int }
	}
	if json.Unmarshal(body, &page) != nil || len(page.Stats) == 0 {
		return 0
	}
	return page.Stats[0].Value
}

// pusher brings an Envoy from one snapshot to the next.
type pusher func(ctx context.Context, cache cachev3.SnapshotCache, before, after *cachev3.Snapshot) error

// naive pushes as control planes usually do: everything at once.
func naive(ctx context.Context, cache cachev3.SnapshotCache, _, after *cachev3.Snapshot) error {
	return cache.SetSnapshot(ctx, node, after)
}
