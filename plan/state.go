package plan

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// names numbers the resources of a plan, since states are compared for each of thousands.
type names struct {
	numbers map[Resource]int
	all     []Resource // by number
}

func (n *names) number(at Resource) int {
	known, ok := n.numbers[at]
	if !ok {
		known = len(n.all)
		n.numbers[at], n.all = known, append(n.all, at)
	}
	return known
}

// state is what the server holds, by number: for each resource, one with the same references; nil: it is not held.
type state []*graph.Resource

func (s state) at(number int) *graph.Resource {
	if number < len(s) {
		return s[number]
	}
	return nil
}

func (s *state) set(number int, r *graph.Resource) {
	if missing := number + 1 - len(*s); missing > 0 {
		*s = append(*s, make(state, missing)...)
	}
	(*s)[number] = r
}

// holding returns the state of a server that has a snapshot.
func (p *planner) holding(snapshot *graph.Snapshot) state {
	s := make(state, len(p.names.all))
	for _, r := range snapshot.Resources {
		if !sendable(r.Kind) || r.Delivery != graph.OverXDS || r.State == graph.Failed {
			continue
		}
		if number := p.names.number(Resource{r.Kind, r.Name}); s.at(number) == nil {
			s.set(number, r)
		}
	}
	return s
}

func (p *planner) apply(s *state, steps []*step) {
	for _, one := range steps {
		s.set(p.names.number(one.Resource), one.like) // nil if it removes
	}
}

// refers returns the numbers of the targets of a resource of either snapshot. For a resource that does not change it returns those in
// both, since it can ask for all resources of a kind.
func (p *planner) refers(r *graph.Resource) []int {
	known, ok := p.targets[r]
	if !ok {
		old, next := r, r
		if r.Delivery == graph.OverXDS && p.changes.Find(r.Kind, r.Name) == nil {
			number := p.names.number(Resource{r.Kind, r.Name})
			old, next = p.old.at(number), p.new.at(number)
		}
		was, is := p.changes.Old.From(old), p.changes.New.From(next)
		known = p.targetsOf(is)
		if !slices.Equal(was, is) {
			known = append(known, p.targetsOf(was)...)
			slices.Sort(known)
			known = slices.Compact(known)
		}
		p.targets[r] = known
	}
	return known
}

func (p *planner) targetsOf(edges []*graph.Edge) []int {
	var all []int
	for _, e := range edges {
		if needed(e) {
			all = append(all, p.names.number(Resource{e.To.Kind, e.To.Name}))
		}
	}
	return all
}

// asks returns what the data plane asks for, by name or among all of a kind, including what is not held. AtOnce leaves
// out what it asks for only when a request needs it.
func (p *planner) asks(s state, atOnce bool) *requests {
	asks := &requests{names: &p.names, seen: make([]bool, len(p.names.all))}
	var visit func(int)
	visit = func(at int) {
		if !asks.add(at) {
			return
		}
		if r := s.at(at); r != nil && !(atOnce && onDemand(r)) {
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
	for number, r := range s {
		kind := p.names.all[number].Kind
		if byName := atOnce && p.clustersByName() && kind == graph.Cluster; r != nil && p.roots[kind] && !byName {
			visit(number)
		}
	}
	return asks
}

// clustersByName reports whether the data plane asks for clusters by name, as clients of gRPC do. The input must have what makes them ask.
func (p *planner) clustersByName() bool {
	return p.forGRPC() && (refersTo(p.changes.Old, graph.Cluster) || refersTo(p.changes.New, graph.Cluster))
}

// requests are the resources that a data plane asks for.
type requests struct {
	names *names
	seen  []bool // by number
}

// add reports whether the resource was not among them yet.
func (a *requests) add(number int) bool {
	if missing := number + 1 - len(a.seen); missing > 0 {
		a.seen = append(a.seen, make([]bool, missing)...)
	}
	added := !a.seen[number]
	a.seen[number] = true
	return added
}

// include reports whether the data plane asks for a resource.
func (a *requests) include(at Resource) bool {
	number, known := a.names.numbers[at]
	return known && number < len(a.seen) && a.seen[number]
}

// onDemand reports whether a resource is a scope whose route configuration Envoy fetches with the first request for it.
func onDemand(r *graph.Resource) bool {
	scope, ok := r.Message.(*routev3.ScopedRouteConfiguration)
	return ok && scope.GetOnDemand()
}
