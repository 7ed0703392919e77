package plan

import (
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// references orders steps by the references before and after the push.
func (p *planner) references() {
	for _, e := range p.changes.New.References() {
		if user := p.of(e.From); user != nil && needed(e) && !user.removes {
			p.make(e, user)
		}
	}
	for _, e := range p.changes.Old.References() {
		if user := p.of(e.From); user != nil && needed(e) {
			p.release(e, user)
		}
	}
}

// needed reports whether the target of a reference must exist. Some references only compare names with those declared
// inside other resources.
func needed(e *graph.Edge) bool {
	return e.To != nil && e.To != e.From && e.Kind != graph.HTTPFilter && e.Kind != graph.DNSCache
}

// make adds a target before the reference to it. A cluster must also be warm.
func (p *planner) make(e *graph.Edge, user *step) {
	target := p.of(e.To)
	fresh := !p.had(user.change.Old, e.To)
	switch {
	case target == nil:
	case target.change.Added() && asked(e.To.Kind):
		p.after(target, user, notBefore)
	case target.change.Added():
		p.after(target, user, p.gapTo(e.To.Kind))
	case fresh && e.To.Kind == graph.Cluster:
		p.prefer(contentFirst, target, user, nextPhase)
	case fresh && asked(e.To.Kind):
		p.prefer(contentFirst, target, user, notBefore)
	}
	if fresh && e.To.Kind == graph.Cluster {
		for _, endpoints := range p.endpoints(p.changes.New, e.To) {
			if envoy.TakenOver(p.changes.Old, p.changes.New, e.To, endpoints.change) {
				p.together(endpoints, user) // each of the two is wrong without the other
			} else {
				p.after(p.provider(endpoints), user, nextPhase)
			}
		}
	}
}

// gapTo returns the gap after a target that a server may hold before anything refers to it. There is no wait for
// scopes, since a listener warms with them, and none for clients of gRPC, which keep what they use until they have what comes next.
func (p *planner) gapTo(kind graph.Kind) int {
	if kind == graph.ScopedRouteConfiguration || p.forGRPC() {
		return notBefore
	}
	return nextPhase
}

// gapFrom returns the gap before a target is removed that a server may hold when nothing refers to it. Scopes are not waited for.
func gapFrom(kind graph.Kind) int {
	if kind == graph.ScopedRouteConfiguration {
		return notBefore
	}
	return nextPhase
}

// release removes a target only after the data plane has ACKed that nothing refers to it.
func (p *planner) release(e *graph.Edge, user *step) {
	if p.had(user.change.New, e.To) {
		return
	}
	if target := p.of(e.To); target != nil && target.removes {
		if asked(e.To.Kind) {
			p.after(user, target, notBefore)
		} else {
			p.after(user, target, gapFrom(e.To.Kind))
		}
	}
	if e.To.Kind == graph.Cluster {
		for _, endpoints := range p.endpoints(p.changes.Old, e.To) {
			if shrinks(endpoints.change) {
				p.prefer(inUseStays, user, endpoints, nextPhase)
			}
		}
	}
}

// had reports whether a step's resource, in one of the snapshots, refers to a resource of that name.
func (p *planner) had(user, target *graph.Resource) bool {
	if user == nil {
		return false
	}
	known, ok := p.users[user]
	if !ok {
		known = map[Resource]bool{}
		for _, number := range p.refers(user) {
			to := p.names.all[number]
			known[to] = true
		}
		p.users[user] = known
	}
	return known[Resource{target.Kind, target.Name}]
}

// endpoints returns the steps that change a cluster's cluster load assignments without adding or removing them.
func (p *planner) endpoints(s *graph.Snapshot, cluster *graph.Resource) []*step {
	var steps []*step
	for _, e := range s.From(cluster) {
		if e.Kind != graph.ClusterLoadAssignment || e.To == nil {
			continue
		}
		if one := p.of(e.To); one != nil && one.change.Changed() {
			steps = append(steps, one)
		}
	}
	return steps
}

// shrinks reports whether a change takes endpoints of a cluster load assignment away; nil is one that is sent again.
func shrinks(c *graph.Change) bool { return c != nil && hosts(c.New) < hosts(c.Old) }

func hosts(r *graph.Resource) int {
	cla, _ := r.Message.(*endpointv3.ClusterLoadAssignment)
	return envoy.CountEndpoints(cla)
}
