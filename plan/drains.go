package plan

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// drains keeps what draining connections still read: until Envoy closes them, they stay on the listener, the filter chain
// and the route configuration on which they began.
func (p *planner) drains() {
	p.scoped = refersTo(p.changes.New, graph.ScopedRouteConfiguration)
	for _, d := range p.opts.Draining {
		p.inherited(d)
	}
	for _, c := range p.changes.Of(graph.Listener) {
		d := envoy.DrainOf(c)
		if d.None() {
			continue
		}
		s := p.byName[Resource{c.Kind, c.Name}]
		for _, used := range p.used(d) {
			if p.opts.Repoint && used.by.For == Unsubscribe && p.repoint(s, used) {
				continue
			}
			for _, need := range used.needs {
				p.outlast(s, need)
			}
			p.pending = append(p.pending, pending{wait: used.by, first: s, needs: used.needs})
		}
	}
}

// outlast moves a step behind the drain that another one begins.
func (p *planner) outlast(drain, need *step) {
	if need.removes {
		p.after(drain, need, nextPhase)
	} else {
		p.prefer(inUseStays, drain, need, nextPhase)
	}
}

// draining returns what drains that are not over at a level still need. It stays until then: perhaps only draining connections
// request it, and after a restart a control plane must still know what they have.
func (p *planner) draining(level int) map[Resource]bool {
	all := map[Resource]bool{}
	for _, d := range p.pending {
		if level < d.due() {
			for _, need := range d.needs {
				all[need.Resource] = true
			}
		}
	}
	return all
}

// inherited adds a drain that an earlier plan began. A resource that is requested again is never unsubscribed, and has the
// same content for draining connections as for all others.
func (p *planner) inherited(d Drain) {
	if d.Wait.For == Unsubscribe {
		for _, name := range d.Wait.Names {
			if p.changes.New.Pushed(d.Wait.Kind, name) != nil {
				return
			}
		}
	}
	var needs []*step
	for _, r := range d.Needs {
		s := p.byName[r]
		if s != nil && s.changesTable() {
			s = p.dropping[s] // nil: draining connections can read it
		}
		if s != nil {
			needs = append(needs, s)
		}
	}
	if len(needs) > 0 {
		p.pending = append(p.pending, pending{wait: d.Wait, needs: needs})
	}
}

// use is what some draining connections use, and the barrier that shows their end.
type use struct {
	by    Wait
	needs []*step
}

// used returns, for each barrier at the end of a drain, the steps that wait for it.
func (p *planner) used(d envoy.Drain) []use {
	u := &usage{planner: p, drain: d, seen: map[*graph.Resource]bool{}}
	direct := use{by: Wait{For: Drained, Kind: graph.Listener, Names: []string{d.Listener.Name}, Timeout: p.opts.DrainTime}}
	for _, e := range p.changes.Old.From(d.Listener) {
		if needed(e) && d.Covers(e.Path) && !u.released(e) && !u.follows(e) {
			u.visit(e.To, &direct)
		}
	}
	direct.needs = append(direct.needs, p.retained[d.Listener]...)
	var all []use
	for _, e := range p.changes.Old.From(d.Listener) {
		if needed(e) && d.Covers(e.Path) && u.released(e) && !u.seen[e.To] {
			through := use{by: Wait{For: Unsubscribe, Kind: e.Kind, Names: []string{e.To.Name}, Timeout: p.drainTimeout()}}
			u.visit(e.To, &through)
			all = append(all, through)
		}
	}
	return slices.DeleteFunc(append(all, direct), func(one use) bool { return len(one.needs) == 0 })
}

// drainTimeout returns the drain time with a margin for Envoy.
func (p *planner) drainTimeout() time.Duration { return p.opts.DrainTime + p.opts.AckTimeout }

type usage struct {
	*planner
	drain envoy.Drain
	seen  map[*graph.Resource]bool
}

// released reports whether only the draining connections request the target of a reference from now on, so that Envoy
// unsubscribes from it when they are closed.
func (u *usage) released(e *graph.Edge) bool { return asked(e.Kind) && !u.stays(e.To) }

// stays reports whether the data plane keeps asking for a resource. Then draining connections get its content after the push.
func (u *usage) stays(r *graph.Resource) bool {
	kept := u.changes.New.Pushed(r.Kind, r.Name)
	return kept != nil && len(u.changes.New.To(kept)) > 0
}

// follows reports whether a reference is to a scope that stays: it is the same for draining connections as for all others.
func (u *usage) follows(e *graph.Edge) bool {
	return e.Kind == graph.ScopedRouteConfiguration && u.stays(e.To)
}

// visit collects the steps below a resource that take away what requests read.
func (u *usage) visit(r *graph.Resource, into *use) {
	if u.seen[r] {
		return
	}
	u.seen[r] = true
	if s := u.of(r); s != nil && u.takesAway(s) {
		into.needs = append(into.needs, s)
	}
	if asked(r.Kind) && u.stays(r) {
		return
	}
	for _, e := range u.changes.Old.From(r) {
		if needed(e) && !u.follows(e) {
			u.visit(e.To, into)
		}
	}
}

// takesAway reports whether a step takes away what draining connections read: a resource that Envoy does not keep after its
// removal, the last endpoints, or all endpoints of a subset. As long as a listener has scopes, draining connections get the same scopes as all others.
func (u *usage) takesAway(s *step) bool {
	switch {
	case s.removes && s.Kind == graph.ScopedRouteConfiguration:
		return !u.scoped
	case s.removes:
		return envoy.Drops(s.Kind, u.opts.Push.Transport.Incremental())
	}
	return u.lost[s] || s.Kind == graph.ClusterLoadAssignment && hosts(s.change.New) == 0 && hosts(s.change.Old) > 0
}

// refersTo reports whether a snapshot refers to a resource of a kind.
func refersTo(s *graph.Snapshot, kind graph.Kind) bool {
	return slices.ContainsFunc(s.References(), func(e *graph.Edge) bool { return e.Kind == kind })
}
