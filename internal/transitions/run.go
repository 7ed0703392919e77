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

// Rates: the first for figures, the second where several Envoys share a small machine with the race detector.
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

// Run lets one Envoy go through a transition while clients ask it.
func Run(ctx context.Context, c *Case, m Mode) (*Result, error) {
	p, err := newPlace(m.Push.Transport)
	if err != nil {
		return nil, err
	}
	defer p.close()
	before, after, err := p.halves(c, m.Push.Versions)
	if err != nil {
		return nil, err
	}
	push, wire := naive, newRecorder(serverv3.CallbackFuncs{})
	if m.Planned {
		push, wire = planned(m)
	}
	cp, err := startControlPlane(wire, m.Push.Transport, m.RTT)
	if err != nil {
		return nil, err
	}
	defer cp.close()
	if err := cp.cache.SetSnapshot(ctx, node, before.pushed); err != nil {
		return nil, err
	}
	e, err := cp.serve(ctx, m.Push.Transport, before.bootstrap)
	if err != nil {
		return nil, err
	}
	defer e.Close()

	r := &run{envoy: e, cp: cp, wire: wire, result: &Result{}}
	clients, err := r.meet(ctx, p, targets(before, after, c.Follow), m.Rate)
	if err != nil {
		return nil, err
	}
	defer clients.stop()
	r.transit(ctx, clients, func() error { return push(ctx, cp.cache, before.pushed, after.pushed) })
	return r.result, ctx.Err()
}

type run struct {
	envoy  *envoytest.Envoy
	cp     *controlPlane
	wire   *recorder
	result *Result
}

// meet starts the clients, with the requests that the old snapshot answers.
func (r *run) meet(ctx context.Context, p *place, ts []*target, rate Rate) (*crowd, error) {
	certificate, err := p.authority.pair("client")
	if err != nil {
		return nil, err
	}
	ts, r.result.Unanswered = sift(ctx, ts, certificate)
	clients := gather(ts, certificate, rate)
	clients.start()
	time.Sleep(warmUp)
	return clients, nil
}

// transit pushes, and watches until nothing happens any more.
func (r *run) transit(ctx context.Context, clients *crowd, push func() error) {
	nacks, _ := r.wire.seen()
	rebuilt := r.stat(ctx, "cluster_manager.cluster_modified")
	if early := clients.count(); len(early.failures) > 0 {
		r.result.Unanswered = append(r.result.Unanswered, fmt.Sprintf("before the push: %v", early.failures))
	}
	began := time.Now()
	r.result.Err = push()
	pushed := time.Since(began)
	// A push that waited for drained connections has seen all of it.
	r.settle(ctx, began, time.Now())

	all, answered := r.wire.seen()
	r.result.Nacks = all[len(nacks):]
	r.result.Applied = max(answered.Sub(began), pushed)
	r.result.Unacked = r.wire.unanswered()
	r.result.Warming = r.stat(ctx, "cluster_manager.warming_clusters") + r.stat(ctx, "listener_manager.total_listeners_warming")
	r.result.Rebuilt = r.stat(ctx, "cluster_manager.cluster_modified") - rebuilt
	if s, err := r.cp.cache.GetSnapshot(node); err == nil {
		r.result.Undelivered = r.wire.undelivered(s)
	}
	r.result.tally(clients.stop())
	r.result.Crashed = r.envoy.Crashed()
}

// settle observes the connections for as long as they drain, and what is still under way until it is late.
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

// stat reads a counter or a gauge; 0 where Envoy is gone.
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

// naive is what control planes do.
func naive(ctx context.Context, cache cachev3.SnapshotCache, _, after *cachev3.Snapshot) error {
	return cache.SetSnapshot(ctx, node, after)
}
