package apply

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

// unsettled lists what runs have sent, by type, without having seen the ACK.
type unsettled map[types.ResponseType]map[string]bool

func (u unsettled) add(t types.ResponseType, send plan.Send) {
	if u[t] == nil {
		u[t] = map[string]bool{}
	}
	for _, update := range send.Update {
		u[t][update.Name] = true
	}
	for _, name := range send.Remove {
		delete(u[t], name)
	}
}

func (u unsettled) drop(w plan.Wait) {
	t, err := typeOf(w.Kind)
	if err != nil {
		return
	}
	for _, name := range w.Names {
		delete(u[t], name)
	}
}

// settle waits for the ACK of what an unfinished push has sent. The plan begins with what the cache holds, and takes that as ACKed. If the wait
// fails, nothing has to be undone, since this push has sent nothing yet.
func (r *run) settle(ctx context.Context) error {
	left := unsettled{}
	r.lock(func(n *node) {
		for t, names := range n.unsettled {
			left[t] = maps.Clone(names)
		}
	})
	first := func(t types.ResponseType) int { // types that wait for clusters come after them
		return slices.Index([]graph.Kind{graph.ClusterLoadAssignment, graph.Cluster}, kinds[t])
	}
	for _, t := range slices.SortedFunc(maps.Keys(left), func(a, b types.ResponseType) int {
		return cmp.Or(first(b)-first(a), int(a-b))
	}) {
		if err := r.settleType(ctx, t, left[t]); err != nil {
			return err
		}
	}
	r.lock(func(n *node) { n.startClocks(func(d *drain) bool { return !d.started }) })
	return r.warmed(ctx)
}

// settleType waits even for what the target replaces: until Envoy has it, another resource may lead to what Envoy does not have.
func (r *run) settleType(ctx context.Context, t types.ResponseType, sent map[string]bool) error {
	w := r.ackOf(kinds[t], nil)
	later, replaced := w, false // what cannot be ACKed before the target is sent; whether a rejected resource may have been replaced
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		switch {
		case !r.has(t, name):
			continue
		case len(r.lacking(t, name)) > 0:
			later.Names = append(later.Names, name)
		default:
			w.Names = append(w.Names, name)
		}
		replaced = replaced || !r.keeps(t, name)
	}
	users := r.users(t, w.Names)
	var now, then bool
	r.lock(func(*node) {
		if !replaced {
			r.adopt(t, slices.Concat(w.Names, later.Names))
		}
		now, then = r.open(t, w.Names) || r.unasked(t, users), r.pending(t, later.Names)
	})
	if then {
		r.bringFirst(t, later)
	}
	if !now {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, w.Timeout, errLate)
	defer cancel()
	err := r.supply(limited, false, func() bool { return !r.open(t, w.Names) && !r.unasked(t, users) })
	if errors.Is(err, errLate) {
		return r.late(w)
	}
	return err
}

// bringFirst makes a first phase of what resources that Envoy has not ACKed wait for. The plan takes a cluster that is still warming as usable,
// and Envoy takes no other cluster until it is warm.
func (r *run) bringFirst(t types.ResponseType, waiting plan.Wait) {
	wanted := map[plan.Resource]bool{}
	for _, name := range waiting.Names {
		for _, at := range r.lacking(t, name) {
			wanted[at] = true
		}
	}
	bring := plan.Phase{Why: "Envoy already waits for these.", Wait: []plan.Wait{waiting}}
	for _, phase := range r.made.Phases {
		for _, send := range phase.Send {
			found := plan.Send{Kind: send.Kind}
			for _, u := range send.Update {
				if at := (plan.Resource{Kind: send.Kind, Name: u.Name}); wanted[at] {
					found.Update = append(found.Update, u)
					delete(wanted, at)
				}
			}
			if len(found.Update) > 0 {
				bring.Send = append(bring.Send, found)
			}
		}
	}
	r.made.Phases = append([]plan.Phase{bring}, r.made.Phases...)
}

// adopt treats the NACK of what an earlier run has sent, whether it has arrived or not, as a NACK of what the first phase sends.
func (r *run) adopt(t types.ResponseType, names []string) {
	sent := version{urls[t], r.cached[t].Version}
	r.session.pushed[sent] = 1
	for s := range r.session.node.streams {
		sub := s.subscriptions[urls[t]]
		if sub != nil && sub.nacked != nil && sub.nacked.version == sent && r.lacks(s, sub, t, names) {
			r.session.nacked = sub.nacked
		}
	}
}

// pending reports whether an Envoy was sent one of these names and has not ACKed it.
func (r *run) pending(t types.ResponseType, names []string) bool {
	for s := range r.session.node.streams {
		if sub := s.subscriptions[urls[t]]; sub != nil && sub.pending(s.delta) && r.lacks(s, sub, t, names) {
			return true
		}
	}
	return false
}

// open reports whether an Envoy still has to ACK one of these names. Envoys that rejected it, or that the cache sends nothing, do not count.
func (r *run) open(t types.ResponseType, names []string) bool {
	for s := range r.session.node.streams {
		sub := s.subscriptions[urls[t]]
		if sub == nil || !r.lacks(s, sub, t, names) {
			continue
		}
		rejected := sub.nacked != nil && sub.nacked.name == r.cached[t].Version
		withheld := !sub.pending(s.delta) && s.guarded(urls[t]) != nil && !sub.asksAll(r.cached[t].Items)
		if !rejected && !withheld {
			return true
		}
	}
	return false
}

// users lists the clusters and listeners that make an Envoy request these names.
func (r *run) users(t types.ResponseType, names []string) map[string][]plan.Resource {
	all := map[string][]plan.Resource{}
	by := map[types.ResponseType]graph.Kind{types.Endpoint: graph.Cluster, types.Route: graph.Listener}[t]
	from, err := typeOf(by)
	if err != nil {
		return all
	}
	for user, item := range r.state[from].Items {
		for _, e := range r.references[item.Resource] {
			if e.Kind == kinds[t] && slices.Contains(names, e.Target) {
				all[e.Target] = append(all[e.Target], plan.Resource{Kind: by, Name: user})
			}
		}
	}
	return all
}

// unasked reports whether an Envoy has ACKed a resource and not yet requested what that refers to.
func (r *run) unasked(t types.ResponseType, users map[string][]plan.Resource) bool {
	for _, streams := range r.session.node.envoys() {
		for name, by := range users {
			asks := func(s *stream) bool { sub := s.subscriptions[urls[t]]; return sub != nil && sub.asks(name) }
			has := func(user plan.Resource) bool {
				return slices.ContainsFunc(streams, func(s *stream) bool { return r.holds(s, user) })
			}
			if !slices.ContainsFunc(streams, asks) && slices.ContainsFunc(by, has) {
				return true
			}
		}
	}
	return false
}

// holds reports whether a stream requests a resource and has ACKed it.
func (r *run) holds(s *stream, at plan.Resource) bool {
	t, err := typeOf(at.Kind)
	if err != nil {
		return false
	}
	sub := s.subscriptions[urls[t]]
	return sub != nil && sub.asks(at.Name) && r.ackedOn(s, sub, t, at.Name)
}

// lacks reports whether a stream requests one of these names and has not ACKed it.
func (r *run) lacks(s *stream, sub *subscription, t types.ResponseType, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return sub.asks(name) && !r.ackedOn(s, sub, t, name) })
}

// keeps reports whether the target has the same resource as the cache.
func (r *run) keeps(t types.ResponseType, name string) bool {
	now, next := r.cached[t].Items[name].Resource, r.target.GetResourcesAndTTL(urls[t])[name].Resource
	return next != nil && (now == next || proto.Equal(now, next))
}

// lacking lists what a cluster in the cache refers to and waits for, as for its endpoints, if the cache lacks it and the target adds it.
func (r *run) lacking(t types.ResponseType, name string) []plan.Resource {
	var all []plan.Resource
	for _, e := range r.references[r.cached[t].Items[name].Resource] {
		to, err := typeOf(e.Kind)
		if err != nil || kinds[t] != graph.Cluster || e.Kind == graph.Cluster || r.has(to, e.Target) {
			continue
		}
		if _, brought := r.target.GetResourcesAndTTL(urls[to])[e.Target]; brought {
			all = append(all, plan.Resource{Kind: e.Kind, Name: e.Target})
		}
	}
	return all
}
