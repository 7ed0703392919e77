// Package apply carries out plans over a go-control-plane snapshot cache: phase after phase, each when Envoy is ready for it.
//
// A Tracker, which is the server's callbacks, sees what Envoy asks for and ACKs. Run then replaces SetSnapshot.
package apply

import (
	"context"
	"errors"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/plan"
)

// Options of a Run.
type Options struct {
	// Tracker that the server of the cache calls. It is required, and the same one for all runs.
	Tracker *Tracker
	// Plan is how to plan. Run itself sets Push.Versions (a type has a new version only when it is to be sent) and adds to Draining what
	// an unfinished run left; without Push.Transport it is the one that the node's Envoys are connected by.
	Plan plan.Options
	// Drained, if set, returns when the connections of these listeners are gone, as Envoy's admin interface shows it
	// (listener_manager.total_listeners_draining, total_filter_chains_draining). Without it Run waits for the plan's whole drain time.
	Drained func(ctx context.Context, listeners []string) error
	// Progress, if set, is called from Run's goroutine: it must not block, nor call Run.
	Progress func(Event)

	plan func(before, after *graph.Snapshot, opts plan.Options) *plan.Plan // for tests; nil: plan.Make
}

// Event is what Run is doing.
type Event struct {
	Node  string
	Plan  *plan.Plan
	Phase int // of the plan, from 1
	Step  Step
	Wait  plan.Wait // of Waiting
}

// Step is a moment of a phase.
type Step string

// The steps of a phase, in order; there is a Waiting for each of its waits.
const (
	Begun   Step = "begun"
	Pushed  Step = "pushed"  // the cache holds all that the phase sends
	Waiting Step = "waiting" // for Event.Wait
	Done    Step = "done"
)

// Run brings the Envoys of a node key from one snapshot to the next, and returns when all of it is ACKed. The cache then holds what after
// holds, except for the fields that the plan touched. Before counts only where the cache holds nothing for the node: what it holds is what
// the Envoys were told. With neither there is nothing that could break, and all is sent in one phase; if no Envoy is connected, that is all.
// Only the types that a cachev3.Snapshot can hold are served.
//
// Otherwise Run waits for an Envoy that is not connected as for a slow one. It first waits for the ACK of what an unfinished run has sent, as far
// as after has it too. Errors are a *NackError, a *TimeoutError, ErrSuperseded, or why ctx ended; the cache then holds a state in which traffic
// flows, or after a first push all of it, and the next Run goes on from there.
func Run(ctx context.Context, cache cachev3.SnapshotCache, node string, before, after cachev3.ResourceSnapshot, opts Options) error {
	if opts.Tracker == nil {
		return errors.New("apply.Options has no Tracker")
	}
	if opts.plan == nil {
		opts.plan = func(before, after *graph.Snapshot, opts plan.Options) *plan.Plan {
			return plan.Make(graph.Diff(before, after), opts)
		}
	}
	if gocp.None(before) {
		before = nil
	}
	next, err := gocp.Snapshot(after)
	if err != nil {
		return err
	}
	ctx, session, end, err := opts.Tracker.begin(ctx, node)
	if err != nil {
		return err
	}
	defer end()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if held, err := cache.GetSnapshot(node); err == nil && !gocp.None(held) {
		before = held
	}
	r := &run{Options: opts, cache: cache, key: node, session: session, target: after, references: map[proto.Message][]*graph.Edge{}}
	if before == nil {
		before = &cachev3.Snapshot{}
		r.plan, r.begins = r.first, true
	}
	now, err := gocp.Snapshot(before)
	if err != nil {
		return err
	}
	r.state = stateOf(before)
	r.cached, r.saved = r.state, r.state
	if err := r.prepare(now, next); err != nil {
		return err
	}
	return r.run(ctx)
}

// begin ends the run that is under way for the node, if any, and takes its place; but not when its own context has ended by then.
func (t *Tracker) begin(ctx context.Context, key string) (context.Context, *session, func(), error) {
	t.mu.Lock()
	if err := context.Cause(ctx); err != nil {
		t.mu.Unlock()
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	n := t.node(key)
	former := n.run
	s := &session{node: n, cancel: cancel, ended: make(chan struct{}), pushed: map[version]int{}}
	n.run = s
	t.mu.Unlock()
	if former != nil {
		former.cancel(ErrSuperseded)
		<-former.ended
	}
	return ctx, s, func() {
		cancel(nil)
		t.mu.Lock()
		defer t.mu.Unlock()
		if n.run == s {
			n.run = nil
			t.forget(key)
		}
		close(s.ended)
	}, nil
}
