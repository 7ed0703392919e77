package graph

import (
	"cmp"
	"slices"
	"sync"

	"github.com/xdslint/xdslint/internal/layered"
)

// uses are indices of the edges. Each is made when it is first asked for.
type uses struct {
	toOnce, reachedOnce, waitingOnce sync.Once

	to      layered.Map[*Resource, []*Edge] // the edges of others to a resource
	reached layered.Map[*Resource, bool]    // by traffic
	waiting layered.Map[named, []*Resource] // the resources that refer to a name
}

// roots returns the kinds where traffic enters. Without listeners the snapshot is incomplete: then its route
// configurations count as used, and so on.
func roots(s *Snapshot) []Kind {
	for _, kind := range []Kind{Listener, RouteConfiguration, ScopedRouteConfiguration, VirtualHost} {
		if len(s.byKind[kind]) > 0 {
			return slices.Compact([]Kind{Bootstrap, Listener, kind})
		}
	}
	return []Kind{Bootstrap, Cluster}
}

// From returns the references that a resource holds.
func (s *Snapshot) From(r *Resource) []*Edge { return s.from.Get(r) }

// To returns the references of other resources to a resource, by the kind and the name of those.
func (s *Snapshot) To(r *Resource) []*Edge {
	s.uses.toOnce.Do(func() {
		to := map[*Resource][]*Edge{}
		for _, from := range s.Resources {
			for _, e := range s.from.Get(from) {
				if e.To != nil && e.To != from {
					to[e.To] = append(to[e.To], e)
				}
			}
		}
		for _, edges := range to {
			sortByOrigin(edges)
		}
		s.uses.to = layered.Of(to)
	})
	return s.uses.to.Get(r)
}

func sortByOrigin(edges []*Edge) {
	byOrigin := func(a, b *Edge) int {
		return cmp.Or(cmp.Compare(a.From.Kind, b.From.Kind), cmp.Compare(a.From.Name, b.From.Name))
	}
	if !slices.IsSortedFunc(edges, byOrigin) {
		slices.SortStableFunc(edges, byOrigin)
	}
}

// Serves reports whether traffic can reach the resource, from a listener or the bootstrap. In a snapshot without
// listeners every route configuration counts as used; without route configurations, every cluster.
func (s *Snapshot) Serves(r *Resource) bool {
	s.uses.reachedOnce.Do(func() {
		reached := map[*Resource]bool{}
		var reach func(r *Resource)
		reach = func(r *Resource) {
			if reached[r] {
				return
			}
			reached[r] = true
			for _, e := range s.from.Get(r) {
				if e.To != nil {
					reach(e.To)
				}
			}
		}
		for _, kind := range roots(s) {
			for _, r := range s.byKind[kind] {
				reach(r)
			}
		}
		s.uses.reached = layered.Of(reached)
	})
	return s.uses.reached.Get(r)
}

// waiting returns the resources that refer to a name, whether it exists or not.
func (s *Snapshot) waiting(name named) []*Resource {
	s.uses.waitingOnce.Do(func() {
		all := map[named][]*Resource{}
		for _, r := range s.Resources {
			for _, name := range needs(r) {
				all[name] = append(all[name], r)
			}
		}
		s.uses.waiting = layered.Of(all)
	})
	return s.uses.waiting.Get(name)
}

// needs lists the names that decide where the references of a resource lead, each once.
func needs(r *Resource) []named {
	var all []named
	for _, ref := range r.links().references {
		if ref.leads == toResource {
			all = append(all, named{ref.Kind, ref.Target})
		}
	}
	if len(all) < 2 {
		return all
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	return slices.Compact(all)
}
