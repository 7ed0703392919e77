package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// run is the state of a push.
type run struct {
	Options
	cache   cachev3.SnapshotCache
	key     string // of the node
	session *session
	target  cachev3.ResourceSnapshot

	made       *plan.Plan
	phase      int // from 0
	references map[proto.Message][]*graph.Edge
	resources  []*graph.Resource // of both snapshots

	state  state // after the sends so far
	cached state // what the cache holds: without names that must not be offered yet
	saved  state // before the current phase
	hashes map[proto.Message]string
}

// prepare makes the plan.
func (r *run) prepare(now, next *graph.Snapshot) error {
	r.know(next)
	opts := r.Plan
	opts.Push.Versions = lint.PerType
	r.lock(func(n *node) {
		if opts.Push.Transport == "" {
			opts.Push.Transport = n.transport()
		}
		n.prune()
		opts.Draining = slices.Concat(opts.Draining, r.inherited(n.draining))
	})
	if r.Options.plan != nil {
		r.made = r.Options.plan(now, next, opts)
	} else {
		r.made = plan.Make(graph.Diff(now, next), opts)
	}
	r.awaitRuntime()
	for _, phase := range r.made.Phases { // a touched message is in neither snapshot
		touched := &cachev3.Snapshot{}
		for _, send := range phase.Send {
			t, err := typeOf(send.Kind)
			if err != nil {
				return err
			}
			send.Update = slices.DeleteFunc(slices.Clone(send.Update), func(u plan.Update) bool { return u.Content != plan.Touched })
			touched.Resources[t].Items = state{}.with(t, send, r.target)
		}
		s, err := gocp.Snapshot(touched)
		if err != nil {
			return err
		}
		r.know(s)
	}
	return nil
}

// awaitRuntime adds waits for runtime layers. The plan has none, since only Envoys whose bootstrap names a layer request it; the tracker
// knows which.
func (r *run) awaitRuntime() {
	for i, phase := range r.made.Phases {
		for _, send := range phase.Send {
			if send.Kind != graph.Runtime {
				continue
			}
			var names []string
			for _, u := range send.Update {
				names = append(names, u.Name)
			}
			r.made.Phases[i].Wait = append([]plan.Wait{r.ackOf(graph.Runtime, names)}, phase.Wait...)
		}
	}
}

func (r *run) know(s *graph.Snapshot) {
	r.resources = append(r.resources, s.Resources...)
	for _, resource := range s.Resources {
		if r.references[resource.Message] == nil {
			r.references[resource.Message] = s.From(resource)
		}
	}
}

func (r *run) run(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	for r.phase = range r.made.Phases {
		if err := r.step(ctx); err != nil {
			return r.undo(ctx, err)
		}
	}
	if err := r.release(ctx); err != nil {
		return r.undo(ctx, err)
	}
	return r.finish(ctx)
}

// finish puts into the cache what plans do not cover. Names that no Envoy requests are left out if they would block the rest of their type.
func (r *run) finish(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.state = r.state.last(r.target)
	for i := range r.state {
		t := types.ResponseType(i)
		referred := r.referred(kinds[t])
		r.lock(func(*node) {
			items := r.offer(t, referred, r.state[t].Items)
			if kinds[t] != "" && !sameTTLs(r.cached[t].Items, items) {
				r.state[t].Version = r.version(t, false)
			}
			r.cached[t] = cachev3.Resources{Version: r.state[t].Version, Items: items}
		})
	}
	if err := r.set(ctx); err != nil {
		return err
	}
	r.lock(func(n *node) { n.unsettled = unsettled{} })
	return nil
}

// step carries out one phase.
func (r *run) step(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.saved = r.state
	phase := r.made.Phases[r.phase]
	r.tell(Event{Step: Begun, Snapshot: r.state.after(phase, r.target).snapshot()})
	r.lock(func(n *node) { n.drain(r.drains()) })
	r.heat(phase)
	if err := r.sendAll(ctx, phase); err != nil {
		return err
	}
	r.tell(Event{Step: Pushed})
	if err := r.attend(ctx, phase); err != nil {
		return err
	}
	if r.heat(phase); r.phase+1 < len(r.made.Phases) {
		if err := r.warmed(ctx); err != nil {
			return err
		}
	}
	r.tell(Event{Step: Done})
	return nil
}

// attend carries out the waits of a phase. What it makes drain drains once all of it is ACKed: a listener warms before it takes over.
func (r *run) attend(ctx context.Context, phase plan.Phase) error {
	drains := false
	for _, w := range phase.Wait {
		if !drains && w.For != plan.ACK {
			drains = true
			r.startClocks(phase)
		}
		r.tell(Event{Step: Waiting, Wait: w})
		if err := r.wait(ctx, w); err != nil {
			return err
		}
	}
	if !drains {
		r.startClocks(phase)
	}
	return nil
}

func (r *run) tell(e Event) {
	if r.Progress != nil {
		e.Node, e.Plan, e.Phase = r.key, r.made, r.phase+1
		r.Progress(e)
	}
}

// undo restores the state before the current phase if Envoy has not accepted what came after it. It never returns to an earlier state, even
// if Envoy rejects what an earlier phase sent: the way back would need phases too.
func (r *run) undo(ctx context.Context, err error) error {
	var nack *NackError
	var late *TimeoutError
	switch {
	case errors.As(err, &nack):
		r.undrain()
	case errors.As(err, &late) && late.Wait.For == plan.ACK:
	default:
		return err
	}
	r.tell(Event{Step: Restored, Snapshot: r.saved.snapshot()})
	if restoring := r.restore(ctx); restoring != nil {
		return errors.Join(err, restoring)
	}
	if ended := context.Cause(ctx); ended != nil { // the next push will learn what is wrong, if it sends that too
		return ended
	}
	return err
}

func (r *run) restore(ctx context.Context) error {
	r.state = r.saved
	for t := range r.state {
		if r.state[t].Version == r.cached[t].Version {
			continue
		}
		t := types.ResponseType(t)
		referred := r.referred(kinds[t])
		r.lock(func(*node) {
			r.cached[t] = cachev3.Resources{Version: r.fresh(t, r.state[t].Version), Items: r.offer(t, referred, r.state[t].Items)}
		})
	}
	return r.set(ctx)
}

// set puts everything into the cache, even if ctx has ended.
func (r *run) set(ctx context.Context) error {
	s := r.cached.snapshot()
	if err := r.repeat(s); err != nil {
		return err
	}
	return r.cache.SetSnapshot(context.WithoutCancel(ctx), r.key, s)
}

// repeat gives resources that must be sent again their Delta versions.
func (r *run) repeat(s *cachev3.Snapshot) (err error) {
	r.lock(func(n *node) {
		if len(n.repeats) == 0 {
			return
		}
		if err = s.ConstructVersionMap(); err != nil {
			return
		}
		for at := range n.repeats {
			of := s.VersionMap[graph.TypeURL(at.Kind)]
			if hash, ok := of[at.Name]; ok {
				of[at.Name] = n.repeated(at, hash)
			}
		}
	})
	return err
}

// lock calls f with the node while the tracker is locked.
func (r *run) lock(f func(*node)) {
	r.Tracker.mu.Lock()
	defer r.Tracker.mu.Unlock()
	f(r.session.node)
}
