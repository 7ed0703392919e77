package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// run is the state of a Run.
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
	begins bool  // this is the first push, so that there is nothing to return to
	hashes map[proto.Message]string
}

// prepare makes the plan.
func (r *run) prepare(now, next *graph.Snapshot) error {
	r.know(now)
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
	r.made, r.hashes = r.plan(now, next, opts), map[proto.Message]string{}
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

func (r *run) know(s *graph.Snapshot) {
	r.resources = append(r.resources, s.Resources...)
	for _, resource := range s.Resources {
		if r.references[resource.Message] == nil {
			r.references[resource.Message] = s.From(resource)
		}
	}
}

// first plans a first push: everything in one phase, which waits for the ACK of the Envoys that are connected.
func (r *run) first(_, after *graph.Snapshot, opts plan.Options) *plan.Plan {
	phase := plan.Phase{Why: "The node has no resources yet, so nothing can break."}
	timeout := cmp.Or(opts.AckTimeout, plan.DefaultAckTimeout)
	var connected bool
	r.lock(func(n *node) { connected = n.connected() })
	for _, kind := range kinds {
		send := plan.Send{Kind: kind}
		for _, resource := range after.All(kind) {
			send.Update = append(send.Update, plan.Update{Name: resource.Name, Content: plan.New, Message: resource.Message})
		}
		if kind == "" || len(send.Update) == 0 {
			continue
		}
		phase.Send = append(phase.Send, send)
		if connected && (kind == graph.Cluster || kind == graph.Listener) {
			phase.Wait = append(phase.Wait, plan.Wait{For: plan.ACK, Kind: kind, Names: after.Names(kind), Timeout: timeout})
		}
	}
	return &plan.Plan{Phases: []plan.Phase{phase}}
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
	r.state = r.state.last(r.target)
	for i := range r.state {
		t := types.ResponseType(i)
		referred := r.referred(kinds[t])
		r.lock(func(*node) {
			items := r.offer(t, referred)
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
	r.saved = r.state
	r.lock(func(n *node) { n.drain(r.drains()) })
	phase := r.made.Phases[r.phase]
	r.heat(phase)
	r.tell(Begun, plan.Wait{})
	for i, send := range phase.Send {
		if err := r.send(ctx, send, i); err != nil {
			return err
		}
	}
	r.tell(Pushed, plan.Wait{})
	for _, w := range phase.Wait {
		r.tell(Waiting, w)
		if err := r.wait(ctx, w); err != nil {
			return err
		}
	}
	if r.heat(phase); r.phase+1 < len(r.made.Phases) {
		if err := r.warmed(ctx); err != nil {
			return err
		}
	}
	r.tell(Done, plan.Wait{})
	return nil
}

func (r *run) tell(step Step, w plan.Wait) {
	if r.Progress != nil {
		r.Progress(Event{Node: r.key, Plan: r.made, Phase: r.phase + 1, Step: step, Wait: w})
	}
}

// undo restores the state before the current phase if Envoy has not accepted what came after it. It never returns to an earlier state, even
// if Envoy rejects what an earlier phase sent: the way back would need phases too.
func (r *run) undo(ctx context.Context, err error) error {
	var nack *NackError
	var late *TimeoutError
	switch {
	case r.begins && (errors.As(err, &nack) || errors.As(err, &late)):
		return errors.Join(err, r.complete(ctx))
	case r.begins:
		return err
	case errors.As(err, &nack):
		r.undrain()
		return errors.Join(err, r.restore(ctx))
	case errors.As(err, &late) && late.Wait.For == plan.ACK:
		return errors.Join(err, r.restore(ctx))
	}
	return err
}

// complete puts into the cache what a first push has not sent yet: other Envoys need it, and there is nothing to return to.
func (r *run) complete(ctx context.Context) error {
	left := map[types.ResponseType]bool{}
	for i := range r.state {
		t := types.ResponseType(i)
		if r.cached[t].Version == "" {
			r.state[t].Items, left[t] = r.target.GetResourcesAndTTL(urls[t]), true
		}
	}
	for t := range left {
		referred := r.referred(kinds[t])
		r.lock(func(*node) {
			r.cached[t] = cachev3.Resources{Version: r.version(t, false), Items: r.offer(t, referred)}
		})
	}
	return r.set(context.WithoutCancel(ctx))
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
			r.cached[t] = cachev3.Resources{Version: r.fresh(r.state[t].Version), Items: r.offer(t, referred)}
		})
	}
	return r.set(context.WithoutCancel(ctx))
}

func (r *run) set(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	err := r.cache.SetSnapshot(ctx, r.key, r.cached.snapshot())
	if ended := context.Cause(ctx); err != nil && ended != nil {
		return ended
	}
	return err
}

// send puts one type of the phase into the cache. It waits until the type was sent, so that the next type is sent after it.
func (r *run) send(ctx context.Context, send plan.Send, at int) error {
	t, err := typeOf(send.Kind)
	if err != nil {
		return err
	}
	r.state[t].Items = r.state.with(t, send, r.target)
	if !r.concerns(t, send) {
		return nil
	}
	r.lock(func(n *node) { n.unsettled.add(t, send) })
	if err := r.push(ctx, t, r.again(send.Kind, at)); err != nil {
		return err
	}
	if at+1 < len(r.made.Phases[r.phase].Send) || len(r.held()) > 0 {
		if err := r.patiently(ctx, func() bool { return r.wentOut(t, send) }); err != nil {
			return err
		}
	}
	return r.release(ctx)
}

// concerns reports whether a send changes what the cache holds. It does not if the cache must not hold any of its names.
func (r *run) concerns(t types.ResponseType, send plan.Send) bool {
	var offered map[string]types.ResourceWithTTL
	referred := r.referred(kinds[t])
	r.lock(func(*node) { offered = r.offer(t, referred) })
	return slices.ContainsFunc(send.Update, func(u plan.Update) bool { _, ok := offered[u.Name]; return ok }) ||
		slices.ContainsFunc(send.Remove, func(name string) bool { _, ok := r.cached[t].Items[name]; return ok })
}

// again reports whether the plan sends a kind once more after the given send of the current phase.
func (r *run) again(kind graph.Kind, at int) bool {
	of := func(s plan.Send) bool { return s.Kind == kind }
	if slices.ContainsFunc(r.made.Phases[r.phase].Send[at+1:], of) {
		return true
	}
	return slices.ContainsFunc(r.made.Phases[r.phase+1:], func(p plan.Phase) bool { return slices.ContainsFunc(p.Send, of) })
}

// push puts the state of a type into the cache. A cache for ADS answers a SotW request for names only if the request covers all resources of
// the type, and otherwise drops the request. So push first gives Envoy time to request them all.
func (r *run) push(ctx context.Context, t types.ResponseType, again bool) error {
	referred := r.referred(kinds[t])
	if err := r.patiently(ctx, func() bool { return r.allAsked(t, r.offer(t, referred)) }); err != nil {
		return err
	}
	r.lock(func(*node) {
		r.cached[t] = cachev3.Resources{Version: r.version(t, again), Items: r.offer(t, referred)}
		r.state[t].Version = r.cached[t].Version
		r.session.pushed[version{urls[t], r.cached[t].Version}] = r.phase + 1
	})
	return r.set(ctx)
}

// release pushes the resources that an Envoy has begun to request.
func (r *run) release(ctx context.Context) error {
	for _, t := range r.held() {
		if err := r.push(ctx, t, false); err != nil {
			return err
		}
	}
	return nil
}

// held lists the types of which the cache can now hold more.
func (r *run) held() []types.ResponseType {
	var all []types.ResponseType
	for i := range r.state {
		t := types.ResponseType(i)
		if len(r.cached[t].Items) == len(r.state[t].Items) {
			continue
		}
		referred := r.referred(kinds[t])
		r.lock(func(*node) {
			for name := range r.offer(t, referred) {
				if _, ok := r.cached[t].Items[name]; !ok {
					all = append(all, t)
					break
				}
			}
		})
	}
	return all
}

// referred lists the names of a kind that the state's resources refer to.
func (r *run) referred(kind graph.Kind) map[string]bool {
	all := map[string]bool{}
	for t := range r.state {
		for _, item := range r.state[t].Items {
			for _, e := range r.references[item.Resource] {
				if e.Kind == kind {
					all[e.Target] = true
				}
			}
		}
	}
	return all
}

// version returns the version for the next push of a type: the target's version if this push is the last one of the type and no Envoy knows
// that version yet, and otherwise a fresh one.
func (r *run) version(t types.ResponseType, again bool) string {
	v := r.target.GetVersion(urls[t])
	if again || v == "" || v == r.cached[t].Version || r.session.node.knows(urls[t], v) {
		return r.fresh(v)
	}
	return v
}

// fresh returns a version that was never used before.
func (r *run) fresh(v string) string {
	if cut := strings.LastIndex(v, "~"); cut >= 0 {
		v = v[:cut]
	}
	r.Tracker.versions++
	return fmt.Sprintf("%s~%d", v, r.Tracker.versions)
}

// lock calls f with the node while the tracker is locked.
func (r *run) lock(f func(*node)) {
	r.Tracker.mu.Lock()
	defer r.Tracker.mu.Unlock()
	f(r.session.node)
}

// patience is the longest time that Run waits for an order that is useful but that no later wait depends on.
const patience = 5 * time.Second

var errPatience = errors.New("not yet")

func (r *run) patiently(ctx context.Context, done func() bool) error {
	limited, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	if err := r.await(limited, done); !errors.Is(err, errPatience) {
		return err
	}
	return nil
}
