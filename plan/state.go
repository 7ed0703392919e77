package plan

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// state is what the server holds: for each resource, one with the same references.
type state map[Resource]*graph.Resource

// holding returns the state of a server that has a snapshot.
func holding(snapshot *graph.Snapshot) state {
	s := state{}
	for _, r := range snapshot.Resources {
		if sendable(r.Kind) && r == snapshot.Pushed(r.Kind, r.Name) {
			s[Resource{r.Kind, r.Name}] = r
		}
	}
	return s
}

func (s state) apply(steps []*step) {
	for _, one := range steps {
		if one.removes {
			delete(s, one.Resource)
		} else {
			s[one.Resource] = one.like
		}
	}
}

// refers returns the targets of a resource of either snapshot. For a resource that does not change it returns those in
// both, since it can ask for all resources of a kind.
func (p *planner) refers(r *graph.Resource) []Resource {
	known, ok := p.targets[r]
	if ok {
		return known
	}
	both := []*graph.Resource{r}
	if r.Delivery == graph.OverXDS && p.changes.Find(r.Kind, r.Name) == nil {
		both = []*graph.Resource{p.changes.Old.Pushed(r.Kind, r.Name), p.changes.New.Pushed(r.Kind, r.Name)}
	}
	for i, s := range []*graph.Snapshot{p.changes.Old, p.changes.New} {
		for _, e := range s.From(both[min(i, len(both)-1)]) {
			if needed(e) {
				known = append(known, Resource{e.To.Kind, e.To.Name})
			}
		}
	}
	p.targets[r] = known
	return known
}

// asks returns what the data plane asks for, by name or among all of a kind, including what is not held. AtOnce leaves
// out what it asks for only when a request needs it.
func (p *planner) asks(s state, atOnce bool) map[Resource]bool {
	seen := make(map[Resource]bool, len(s))
	var visit func(Resource)
	visit = func(at Resource) {
		if seen[at] {
			return
		}
		seen[at] = true
		if r := s[at]; r != nil && !(atOnce && onDemand(r)) {
			for _, to := range p.refers(r) {
				visit(to)
			}
		}
	}
	for _, r := range slices.Concat(p.changes.Old.Resources, p.changes.New.Resources) {
		if r.Delivery == graph.FromBootstrap {
			for _, to := range p.refers(r) {
				visit(to)
			}
		}
	}
	for at := range s {
		if p.roots[at.Kind] {
			visit(at)
		}
	}
	return seen
}

// onDemand reports whether a resource is a scope whose route configuration Envoy fetches with the first request for it.
func onDemand(r *graph.Resource) bool {
	scope, ok := r.Message.(*routev3.ScopedRouteConfiguration)
	return ok && scope.GetOnDemand()
}
