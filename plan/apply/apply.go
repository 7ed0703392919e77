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

// Options configure a push.
type Options struct {
	// Tracker is the one that the cache's server has as its callbacks. It is required, and must be the same for all pushes.
	Tracker *Tracker
	// Plan holds the options of plan.Make. A push sets Push.Versions itself (a type gets a new version only when it is sent), and adds to
	// Draining what an unfinished push left. If Push.Transport is empty, it uses the transport by which the node's Envoys are connected.
	Plan plan.Options
	// Drained, if set, returns when the connections of these listeners are closed, as Envoy's admin interface shows
	// (listener_manager.total_listeners_draining, total_filter_chains_draining). Without it a push waits for the plan's
	// whole drain time, and a second more.
	Drained func(ctx context.Context, listeners []string) error
	// Progress, if set, is called with each step of the push, which continues when Progress returns. Calls for one node do not overlap. It
	// must not wait for another push.
	Progress func(Event)

	plan func(before, after *graph.Snapshot, opts plan.Options) *plan.Plan // for tests; nil: plan.Make
}

// Event describes one step of a push.
type Event struct {
	Node  string
	Plan  *plan.Plan // a first push has one phase, and so has what comes before the plan after a restart
	Phase int        // number of the phase in the plan, from 1
	Step  Step
	Wait  plan.Wait // set if Step is Waiting
	// Snapshot is set if Step is Begun or Restored: what the cache is about to hold. Keep the last one of each node in a place that survives
	// a crash, and give it to the first push after a restart as before.
	Snapshot cachev3.ResourceSnapshot
}

// Step is a step of a phase.
type Step string

// The steps of a phase, in order. Each wait of the phase has a Waiting. A phase that Envoy rejects or does not ACK in time ends with
// Restored, one whose push is superseded or cancelled just ends.
const (
	Begun    Step = "begun"    // nothing of the phase is sent yet
	Pushed   Step = "pushed"   // the cache holds everything that the phase sends
	Absent   Step = "absent"   // no Envoy is connected, and nothing waits for one: a first push
	Waiting  Step = "waiting"  // for Event.Wait
	Done     Step = "done"     // what the phase waits for has happened
	Restored Step = "restored" // the cache goes back to what it held before the phase
)

// Run takes the Envoys of a node key from one snapshot to the next, and returns when they have ACKed all of it. The cache then holds the
// content of after, except for the fields that the plan touched. Run serves only the types that a cachev3.Snapshot can hold. It is Begin
// and Wait: see there for the order of two pushes.
//
// The Envoys are taken to have what the cache holds for the node. Only if it holds nothing, before counts: what the Envoys had when an
// earlier control plane ended (the last Event.Snapshot, or what its last finished push left). Run first puts that into the cache and waits
// until the Envoys have ACKed it, and keeps for the drain time what only draining connections can use. If there is neither, Run sends
// everything at once in one phase, and does not wait if no Envoy is connected; an Envoy that still has another configuration then loses
// requests. Otherwise Run waits for an Envoy that is not connected as it does for a slow one. If an earlier push did not finish, Run
// first waits for the ACK of what that sent.
//
// The error is a *NackError, a *TimeoutError, ErrSuperseded, or the cause of the end of ctx. The cache then holds the whole of a phase or
// nothing of it, so that every reference resolves as in a state of the plan and traffic flows; the next push continues from there. For
// this, a push that is superseded or cancelled first sends the rest of its phase: one round trip for each type, two seconds at most.
func Run(ctx context.Context, cache cachev3.SnapshotCache, node string, before, after cachev3.ResourceSnapshot, opts Options) error {
	return Begin(ctx, cache, node, before, after, opts).Wait()
}

// Push is a push that has begun.
type Push struct {
	done chan struct{}
	err  error
}

// Wait returns when the push has ended, with the error that Run describes. It can be called any number of times, or not at all.
func (p *Push) Wait() error {
	<-p.done
	return p.err
}

// Begin begins what Run does, and returns at once: it takes the node's place, and loads, plans and sends in a goroutine. It ends the push that
// is under way for the node, if any, unless ctx has already ended. So of two pushes for a node, the one whose Begin was called last wins:
// call Begin in the order of the snapshots, and Wait where it suits.
func Begin(ctx context.Context, cache cachev3.SnapshotCache, node string, before, after cachev3.ResourceSnapshot, opts Options) *Push {
	p := &Push{done: make(chan struct{})}
	place, err := take(ctx, node, after, opts)
	if err != nil {
		p.err = err
		close(p.done)
		return p
	}
	r := &run{
		Options: opts, cache: cache, key: node, session: place.session, target: after,
		references: map[proto.Message][]*graph.Edge{}, hashes: map[proto.Message]string{},
	}
	go func() {
		defer close(p.done)
		defer place.leave()
		p.err = r.start(place.ctx, before)
	}()
	return p
}

// place is a push's turn at its node: until it leaves, or another one takes the place.
type place struct {
	ctx     context.Context // ends when another push takes the place
	tracker *Tracker
	key     string
	session *session
}

func take(ctx context.Context, key string, after cachev3.ResourceSnapshot, opts Options) (*place, error) {
	if opts.Tracker == nil {
		return nil, errors.New("apply.Options: Tracker is not set")
	}
	if gocp.None(after) {
		return nil, errors.New("there is no snapshot to push")
	}
	t := opts.Tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	n := t.node(key)
	s := &session{node: n, former: n.run, cancel: cancel, ended: make(chan struct{}), pushed: map[version]int{}}
	n.run = s
	if s.former != nil {
		s.former.cancel(ErrSuperseded)
	}
	return &place{ctx, t, key, s}, nil
}

func (p *place) leave() {
	p.session.cancel(nil)
	p.tracker.mu.Lock()
	defer p.tracker.mu.Unlock()
	if n := p.session.node; n.run == p.session {
		n.run = nil
		p.tracker.forget(p.key)
	}
	close(p.session.ended)
}
