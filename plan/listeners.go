package plan

import (
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// listeners orders what takes an address after what has it: in one response where the old listener goes, since Envoy removes
// before it adds; in the next phase where it moves, since Envoy adds in no order that a server can choose. Other listeners go when those that
// take their place are there.
func (p *planner) listeners() {
	var added, removed []*step
	for _, c := range p.changes.Of(graph.Listener) {
		switch s := p.byName[Resource{c.Kind, c.Name}]; {
		case c.Added():
			added = append(added, s)
		case c.Removed():
			removed = append(removed, s)
		}
	}
	for _, c := range p.changes.Of(graph.Listener) {
		if c.Removed() {
			continue
		}
		taker := p.byName[Resource{c.Kind, c.Name}]
		for _, holder := range p.holders(c) {
			if holder.removes {
				p.after(taker, holder, notBefore)
				p.after(holder, taker, notBefore)
			} else {
				p.rather(addressFree, holder, taker, nextPhase)
			}
		}
	}
	for _, gone := range removed {
		for _, successor := range added {
			p.rather(listenersFollow, successor, gone, nextPhase)
		}
	}
}

// holders lists the steps of other listeners that have an address that a change newly takes.
func (p *planner) holders(c *graph.Change) []*step {
	var all []*step
	for _, socket := range addresses(c.New) {
		if slices.Contains(addresses(c.Old), socket) {
			continue
		}
		for _, other := range p.changes.Of(graph.Listener) {
			if other != c && slices.Contains(addresses(other.Old), socket) && !slices.Contains(addresses(other.New), socket) {
				all = append(all, p.byName[Resource{other.Kind, other.Name}])
			}
		}
	}
	return all
}

// addresses that a listener binds; none for those whose port the system chooses.
func addresses(r *graph.Resource) []envoy.ListenSocket {
	if r == nil {
		return nil
	}
	l, ok := r.Message.(*listenerv3.Listener)
	if !ok {
		return nil
	}
	var bound []envoy.ListenSocket
	add := func(a *corev3.Address) {
		if s, ok := envoy.ListenSocketOf(a); ok && (s.Port != 0 || a.GetPipe() != nil) {
			bound = append(bound, s)
		}
	}
	add(l.GetAddress())
	for _, more := range l.GetAdditionalAddresses() {
		add(more.GetAddress())
	}
	return bound
}
