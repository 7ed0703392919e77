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

// Options configure Run.
type Options struct {
	// Tracker is the one that the cache's server has as its callbacks. It is required, and must be the same for all runs.
	Tracker *Tracker
	// Plan holds the options of plan.Make. Run sets Push.Versions itself (a type gets a new version only when it is sent), and adds to
	// Draining what an unfinished run left. If Push.Transport is empty, Run uses the transport by which the node's Envoys are connected.
	Plan plan.Options
	// Drained, if set, returns when the connections of these listeners are closed, as Envoy's admin interface shows
	// (listener_manager.total_listeners_draining, total_filter_chains_draining). Without it Run waits for the plan's whole drain time.
	Drained func(ctx context.Context, listeners []string) error
	// Progress, if set, is called from Run's goroutine. It must neither block nor call Run.
	Progress func(Event)

	plan func(before, after *graph.Snapshot, opts plan.Options) *plan.Plan // for tests; nil: plan.Make
}

// Event describes one step of a Run.
type Event struct {
	Node  string
	Plan  *plan.Plan
	Phase int // number of the phase in the plan, from 1
	Step  Step
	Wait  plan.Wait // set if Step is Waiting
}

// Step is a step of a phase.
type Step string

// The steps of a phase, in order. Each wait of the phase has a Waiting.
const (
	Begun   Step = "begun"
	Pushed  Step = "pushed"  // the cache holds everything that the phase sends
	Waiting Step = "waiting" // for Event.Wait
	Done    Step = "done"
)

// Run takes the Envoys of a node key from one snapshot to the next, and returns when they have ACKed all of it. The cache then holds the
// content of after, except for the fields that the plan touched. Run serves only the types that a cachev3.Snapshot can hold.
//
// The snapshot that the cache holds for the node takes precedence over before, since it is what the Envoys were sent. If there is neither,
// nothing can break: Run sends everything in one phase, and does not wait if no Envoy is connected. Otherwise Run waits for an Envoy that is
// not connected as it does for a slow one. If an earlier run did not finish, Run first waits for the ACK of what that run sent and after
// still has.
//
// The error is a *NackError, a *TimeoutError, ErrSuperseded, or the cause of the end of ctx. The cache then holds a state in which traffic
// flows (after a first push, all of it), and the next Run continues from there.
func Run(ctx context.Context, cache cachev3.SnapshotCache, node string, before, after cachev3.ResourceSnapshot, opts Options) error {
	if opts.Tracker == nil {
		return errors.New("apply.Options: Tracker is not set")
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

// begin ends the run that is under way for the node, if any, and takes its place, unless ctx has already ended.
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
