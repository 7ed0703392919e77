package plan

import (
	"time"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// drains keeps the resources that draining connections still use: until Envoy closes them, they stay on the listener,
// the filter chain and the route configuration on which they began.
func (p *planner) drains() {
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
				if need.removes {
					p.after(s, need, nextPhase)
				} else {
					p.prefer(endpointsStay, s, need, nextPhase)
				}
			}
			p.pending = append(p.pending, pending{wait: used.by, first: s, needs: used.needs})
		}
	}
}

// inherited adds a drain that an earlier plan began. A route configuration that is requested again is never
// unsubscribed, and has the same content for draining connections as for all others.
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
		if s := p.byName[r]; s != nil && s.removes {
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
		if needed(e) && d.Covers(e.Path) && e.Kind != graph.RouteConfiguration && !u.follows(e) {
			u.visit(e.To, &direct)
		}
	}
	var all []use
	for _, table := range u.tables() {
		through := use{by: Wait{For: Unsubscribe, Kind: graph.RouteConfiguration, Names: []string{table.Name}, Timeout: p.drainTimeout()}}
		u.visit(table, &through)
		all = append(all, through)
	}
	all = append(all, direct)
	kept := all[:0]
	for _, one := range all {
		if len(one.needs) > 0 {
			kept = append(kept, one)
		}
	}
	return kept
}

// drainTimeout returns the drain time with a margin for Envoy.
func (p *planner) drainTimeout() time.Duration { return p.opts.DrainTime + p.opts.AckTimeout }

type usage struct {
	*planner
	drain envoy.Drain
	seen  map[*graph.Resource]bool
}

// tables returns the route configurations that only the draining connections use from now on.
func (u *usage) tables() []*graph.Resource {
	var all []*graph.Resource
	for _, e := range u.changes.Old.From(u.drain.Listener) {
		if e.Kind == graph.RouteConfiguration && needed(e) && u.drain.Covers(e.Path) && !u.stays(e.To) && !u.seen[e.To] {
			all = append(all, e.To)
		}
	}
	return all
}

// stays reports whether the data plane keeps asking for a resource. Then draining connections get its content after the push.
func (u *usage) stays(r *graph.Resource) bool {
	kept := u.changes.New.Pushed(r.Kind, r.Name)
	return kept != nil && len(u.changes.New.To(kept)) > 0
}

// follows reports whether a reference is to a scope that stays: it is the same for draining connections as for all others.
func (u *usage) follows(e *graph.Edge) bool {
	return e.Kind == graph.ScopedRouteConfiguration && u.stays(e.To)
}

// visit collects what has to wait below a resource: clusters that are removed, and cluster load assignments that lose endpoints.
func (u *usage) visit(r *graph.Resource, into *use) {
	if u.seen[r] {
		return
	}
	u.seen[r] = true
	if r.Kind == graph.Cluster {
		u.cluster(r, into)
	} else if asked(r.Kind) && u.stays(r) {
		return
	}
	for _, e := range u.changes.Old.From(r) {
		if needed(e) && !u.follows(e) {
			u.visit(e.To, into)
		}
	}
}

func (u *usage) cluster(r *graph.Resource, into *use) {
	if s := u.of(r); s != nil && s.removes {
		into.needs = append(into.needs, s)
	}
	if u.changes.New.Pushed(r.Kind, r.Name) == nil {
		return
	}
	for _, endpoints := range u.endpoints(u.changes.Old, r) {
		if hosts(endpoints.change.New) == 0 && hosts(endpoints.change.Old) > 0 {
			into.needs = append(into.needs, endpoints)
		}
	}
}
