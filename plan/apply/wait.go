package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/plan"
)

var errLate = errors.New("too late")

// wait carries out one wait of the current phase.
func (r *run) wait(ctx context.Context, w plan.Wait) error {
	limited, cancel := context.WithDeadlineCause(ctx, r.deadline(w), errLate)
	defer cancel()
	var err error
	switch w.For {
	case plan.ACK:
		err = r.waitForACK(limited, w)
	case plan.Unsubscribe:
		err = r.await(limited, func() bool { return r.session.node.connected() && !r.session.node.asksAny(w) })
	case plan.Drained:
		if err = r.drained(limited, w.Names); errors.Is(err, errLate) {
			err = nil // Envoy closes what is left when the drain time is over
		}
	}
	switch {
	case errors.Is(err, errLate):
		return r.late(w)
	case err == nil && w.For == plan.ACK:
		r.lock(func(n *node) { n.unsettled.drop(w) })
	case err == nil:
		r.lock(func(n *node) { n.ended(w) })
	}
	return err
}

func (r *run) waitForACK(ctx context.Context, w plan.Wait) error {
	referred := r.referred(w.Kind)
	return r.supply(ctx, w.Kind == graph.Cluster, func() bool { return r.acked(w, referred) })
}

// supply awaits, and sends again what Envoy waits for and the server takes as delivered: endpoints that came before their
// clusters, since the server answers an Envoy that reconnected in an arbitrary order, and names in a lost subscription.
func (r *run) supply(ctx context.Context, clusters bool, done func() bool) error {
	for {
		due := types.UnknownType
		err := r.await(ctx, func() bool {
			if due = r.lost(); due == types.UnknownType && clusters && r.starved() {
				due = types.Endpoint
			}
			return due != types.UnknownType || done()
		})
		if err != nil || due == types.UnknownType {
			return err
		}
		if err := r.push(ctx, due, false); err != nil {
			return err
		}
	}
}

// lost returns a type of which an Envoy requests names again that the cache does not send it, and gives these resources
// another Delta version. It returns types.UnknownType if there is none.
func (r *run) lost() types.ResponseType {
	for s := range r.session.node.streams {
		for t, url := range urls {
			sub, found := s.subscriptions[url], false
			if sub == nil {
				continue
			}
			for _, name := range sub.misses() {
				if _, held := r.cached[t].Items[name]; held {
					delete(sub.stray, name)
					r.session.node.repeats[plan.Resource{Kind: kinds[t], Name: name}]++
					found = true
				}
			}
			if found {
				return types.ResponseType(t)
			}
		}
	}
	return types.UnknownType
}

// starved reports whether an Envoy that reconnected got the endpoints that the cache holds before its first clusters, and waits for them.
func (r *run) starved() bool {
	for s := range r.session.node.streams {
		clusters, endpoints := s.subscriptions[urls[types.Cluster]], s.subscriptions[urls[types.Endpoint]]
		if s.delta || !s.aggregated() || clusters == nil || endpoints == nil || endpoints.last == 0 {
			continue
		}
		first := len(clusters.open) > 0 && !clusters.holds.all // it has ACKed none on this stream
		if first && endpoints.last < clusters.last && endpoints.sent == r.cached[types.Endpoint].Version {
			return true
		}
	}
	return false
}

func (r *run) late(w plan.Wait) error {
	return &TimeoutError{Node: r.key, Phase: r.phase + 1, Phases: max(1, len(r.made.Phases)), Wait: w, Known: r.known(w)}
}

// await returns when done returns true, when Envoy rejects something, or when ctx ends. The tracker is locked while done is called.
func (r *run) await(ctx context.Context, done func() bool) error {
	for {
		var over bool
		var rejected *nack
		var changed chan struct{}
		r.lock(func(n *node) {
			rejected, changed = r.session.nacked, n.changed
			over = rejected == nil && done()
		})
		switch {
		case rejected != nil:
			return r.nackError(rejected)
		case over:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// nackError is the error for a NACK, without the secrets that Envoy quotes.
func (r *run) nackError(by *nack) error {
	secrets := redact.NewFiles(slices.Values(r.resources)).All()
	return &NackError{
		Node: r.key, Phase: r.session.pushed[by.version], Phases: max(1, len(r.made.Phases)),
		TypeURL: by.typeURL, Version: by.name, Message: secrets.Text(by.message), stream: by.stream,
	}
}

// drained waits until Options.Drained returns, or without it until the drain time is over.
func (r *run) drained(ctx context.Context, listeners []string) error {
	if r.Drained == nil {
		return r.await(ctx, func() bool { return false })
	}
	result, over := error(nil), make(chan struct{})
	go func() {
		defer r.lock((*node).wake)
		defer close(over)
		result = r.Drained(ctx, listeners)
	}()
	err := r.await(ctx, func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil && result != nil {
		err = fmt.Errorf("node %q, phase %d of %d: waiting for %s to drain: %w",
			r.key, r.phase+1, len(r.made.Phases), list(graph.Listener, listeners), result)
	}
	return err
}

// acked reports whether all Envoys that request a kind have ACKed these names as the cache has them.
func (r *run) acked(w plan.Wait, referred map[string]bool) bool {
	t, err := typeOf(w.Kind)
	if err != nil {
		return false
	}
	names, awaited := map[string]bool{}, 0
	for _, name := range w.Names {
		if names[name] = r.awaited(t, name, referred); names[name] {
			awaited++
		}
	}
	clients := r.session.node.clients(urls[t])
	if len(clients) == 0 {
		return r.session.node.connected() && awaited == 0
	}
	for _, streams := range clients {
		if !r.ackedBy(streams, t, names, awaited) {
			return false
		}
	}
	return true
}

// has reports whether the state has a resource.
func (r *run) has(t types.ResponseType, name string) bool {
	_, ok := r.state[t].Items[name]
	return ok
}

// awaited reports whether the state has a resource that every Envoy will request. Envoy requests a virtual host only when a request needs it,
// a runtime layer only if its bootstrap names it, and a resource without references only for its bootstrap or for connections that drain.
func (r *run) awaited(t types.ResponseType, name string, referred map[string]bool) bool {
	switch kinds[t] {
	case graph.VirtualHost, graph.Runtime:
		return false
	case graph.Cluster, graph.Listener, graph.ScopedRouteConfiguration:
		return r.has(t, name)
	}
	return r.has(t, name) && referred[name]
}

// ackedBy reports whether all streams of a client have ACKed the names that they request, and each awaited name is requested by one of them. It
// iterates over the streams, since each name can have a separate one.
func (r *run) ackedBy(streams []*stream, t types.ResponseType, names map[string]bool, awaited int) bool {
	found := map[string]bool{}
	for _, s := range streams {
		sub := s.subscriptions[urls[t]]
		asked := names
		if !sub.wildcard && len(sub.names) < len(names) {
			asked = sub.names
		}
		for name := range asked {
			due, ok := names[name]
			if !ok || !sub.asks(name) {
				continue
			}
			if !r.ackedOn(s, sub, t, name) {
				return false
			}
			if due {
				found[name] = true
			}
		}
	}
	return len(found) == awaited
}

func (r *run) ackedOn(s *stream, sub *subscription, t types.ResponseType, name string) bool {
	if !r.has(t, name) {
		_, still := sub.has[name]
		_, given := sub.given[name]
		return s.delta && !still && !given || !s.delta && sub.acked == r.cached[t].Version
	}
	if s.delta { // a resource that was ACKed may be about to be removed
		return sub.has[name] == r.hash(t, name) && sub.given[name] == sub.has[name]
	}
	return sub.acked == r.cached[t].Version && sub.holds.include(name)
}

// hash is the version of a Delta resource (cachev3.Snapshot.ConstructVersionMap).
func (r *run) hash(t types.ResponseType, name string) string {
	m := r.state[t].Items[name].Resource
	known, ok := r.hashes[m]
	if !ok {
		if raw, err := cachev3.MarshalResource(m); err == nil {
			known = cachev3.HashResource(raw)
		}
		r.hashes[m] = known
	}
	return r.session.node.repeated(plan.Resource{Kind: kinds[t], Name: name}, known)
}

// allAsked reports whether each aggregated SotW stream that requests names of a type requests all of these.
func (r *run) allAsked(t types.ResponseType, items map[string]types.ResourceWithTTL) bool {
	for s := range r.session.node.streams {
		if sub := s.guarded(urls[t]); sub != nil && !sub.asksAll(items) {
			return false
		}
	}
	return true
}

// offer is what the cache may hold of all resources of a type. Where an extra name would block all others, only names that are requested or
// referred to.
func (r *run) offer(t types.ResponseType, referred map[string]bool, all map[string]types.ResourceWithTTL) map[string]types.ResourceWithTTL {
	n := r.session.node
	guarded := false
	for s := range n.streams {
		guarded = guarded || s.guarded(urls[t]) != nil
	}
	if !guarded {
		return all
	}
	offered := make(map[string]types.ResourceWithTTL, len(all))
	for name, item := range all {
		if referred[name] || n.asks(urls[t], name) {
			offered[name] = item
		}
	}
	return offered
}

// guarded returns the subscription of an aggregated SotW stream to names of a type, or nil.
func (s *stream) guarded(url string) *subscription {
	if sub := s.subscriptions[url]; sub != nil && s.aggregated() && !s.delta && !sub.wildcard {
		return sub
	}
	return nil
}
