package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

// grace is how long a push that has been superseded or cancelled keeps the order within its phase before it sends the rest at once.
const grace = 2 * time.Second

// sendAll sends a phase. One that has begun is sent to its end, even if ctx ends: traffic only flows in whole phases.
func (r *run) sendAll(ctx context.Context, phase plan.Phase) error {
	unhurried, stop := outlasting(ctx)
	defer stop()
	for i, send := range phase.Send {
		if err := r.send(unhurried, send, i); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// outlasting returns a context that ends a while after ctx. Until then all waits for an order are as patient as before, and then no more.
func outlasting(ctx context.Context) (context.Context, func()) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, func() { end(errPatience) }) })
	return longer, func() { stop(); end(nil) }
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
		if err := r.patiently(ctx, func() bool { return r.wentOut(t, send, at) }); err != nil {
			return err
		}
	}
	return r.release(ctx)
}

// wentOut reports whether what was pushed was sent on every stream that requests it, and that can be sent it before the rest of the phase.
func (r *run) wentOut(t types.ResponseType, send plan.Send, at int) bool {
	for s := range r.session.node.streams {
		if sub := s.subscriptions[urls[t]]; sub != nil && !r.wentOutOn(s, sub, t, send) && !(t == types.Cluster && r.waitsForMore(s, sub, at)) {
			return false
		}
	}
	return true
}

func (r *run) wentOutOn(s *stream, sub *subscription, t types.ResponseType, send plan.Send) bool {
	if !s.delta {
		v := r.cached[t].Version
		return sub.sent == v || sub.acked == v
	}
	for _, u := range send.Update {
		if sub.asks(u.Name) && sub.given[u.Name] != r.hash(t, u.Name) {
			return false
		}
	}
	for _, name := range send.Remove {
		if _, given := sub.given[name]; given && sub.asks(name) {
			return false
		}
	}
	return true
}

// waitsForMore reports whether an Envoy takes no more clusters, since those that it has wait for what the phase sends after the given send.
func (r *run) waitsForMore(s *stream, clusters *subscription, at int) bool {
	if !s.aggregated() || len(clusters.open) == 0 {
		return false
	}
	for _, later := range r.made.Phases[r.phase].Send[at+1:] {
		sub := s.subscriptions[graph.TypeURL(later.Kind)]
		t, err := typeOf(later.Kind)
		if err == nil && sub != nil && slices.ContainsFunc(later.Update, func(u plan.Update) bool {
			_, served := r.cached[t].Items[u.Name]
			return !served && sub.names[u.Name] && !sub.had(u.Name, s.delta) // it still requests names of clusters that were removed just now
		}) {
			return true
		}
	}
	return false
}

// concerns reports whether a send changes what the cache holds. It does not if the cache must not hold any of its names.
func (r *run) concerns(t types.ResponseType, send plan.Send) bool {
	var offered map[string]types.ResourceWithTTL
	referred := r.referred(kinds[t])
	r.lock(func(*node) { offered = r.offer(t, referred, r.state[t].Items) })
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
	if err := r.patiently(ctx, func() bool { return r.allAsked(t, r.offer(t, referred, r.state[t].Items)) }); err != nil {
		return err
	}
	r.lock(func(*node) {
		r.cached[t] = cachev3.Resources{Version: r.version(t, again), Items: r.offer(t, referred, r.state[t].Items)}
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
			for name := range r.offer(t, referred, r.state[t].Items) {
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
		return r.fresh(t, v)
	}
	return v
}

// fresh returns a version that neither the cache nor any Envoy has, even if it got its version from an earlier control plane.
func (r *run) fresh(t types.ResponseType, v string) string {
	if cut := strings.LastIndex(v, "~"); cut >= 0 {
		v = v[:cut]
	}
	for {
		r.Tracker.versions++
		made := fmt.Sprintf("%s~%d", v, r.Tracker.versions)
		if made != r.cached[t].Version && !r.session.node.knows(urls[t], made) {
			return made
		}
	}
}

// patience is the longest time that a push waits for an order that is useful but that no later wait depends on.
const patience = 5 * time.Second

var errPatience = errors.New("not yet")

func (r *run) patiently(ctx context.Context, done func() bool) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.Tracker.patience, errPatience)
	defer cancel()
	if err := r.await(limited, done); !errors.Is(err, errPatience) {
		return err
	}
	return nil
}
