package plan

import (
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// listeners orders the listener that takes an address after the one that has it. They share a response if the old
// listener is removed, since Envoy removes before it adds. They are one phase apart if it moves, since a server cannot
// choose the order in which Envoy adds. Other listeners are removed when all new ones are there.
func (p *planner) listeners() {
	p.index()
	replaced := map[*step]bool{}
	for _, c := range p.changes.Of(graph.Listener) {
		if c.Removed() {
			continue
		}
		taker := p.byName[Resource{c.Kind, c.Name}]
		for _, holder := range p.holders(c) {
			if holder.removes {
				replaced[holder] = true
				p.together(taker, holder)
			} else {
				p.prefer(addressFree, holder, taker, nextPhase)
			}
		}
	}
	allThere := &step{}
	for _, c := range p.changes.Of(graph.Listener) {
		switch s := p.byName[Resource{c.Kind, c.Name}]; {
		case c.Added():
			p.prefer(listenersFollow, s, allThere, notBefore)
		case c.Removed() && !replaced[s]:
			p.prefer(listenersFollow, allThere, s, nextPhase)
		}
	}
}

// index notes which listeners that change had and will have each address.
func (p *planner) index() {
	p.hadAddress, p.getsAddress = map[envoy.ListenSocket][]*graph.Change{}, map[envoy.ListenSocket][]*graph.Change{}
	for _, c := range p.changes.Of(graph.Listener) {
		for _, socket := range addresses(c.Old) {
			p.hadAddress[socket] = append(p.hadAddress[socket], c)
		}
		for _, socket := range addresses(c.New) {
			p.getsAddress[socket] = append(p.getsAddress[socket], c)
		}
	}
}

// holders returns the steps of other listeners that have an address that a change newly takes.
func (p *planner) holders(c *graph.Change) []*step {
	var all []*step
	for _, socket := range addresses(c.New) {
		if slices.Contains(p.hadAddress[socket], c) {
			continue
		}
		for _, other := range p.hadAddress[socket] {
			if !slices.Contains(p.getsAddress[socket], other) {
				all = append(all, p.byName[Resource{other.Kind, other.Name}])
			}
		}
	}
	return all
}

// heirs returns the listeners that take the connections of a listener from now on: its new version, or if it is removed,
// those that take its address.
func (p *planner) heirs(c *graph.Change) []*graph.Resource {
	if !c.Removed() {
		return []*graph.Resource{c.New}
	}
	var all []*graph.Resource
	for _, socket := range addresses(c.Old) {
		for _, other := range p.getsAddress[socket] {
			all = append(all, other.New)
		}
	}
	return all
}

// addresses returns the addresses that a listener binds, without those whose port the system chooses.
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
