package graph

import (
	"context"
	"strings"

	"github.com/xdslint/xdslint/internal/layered"
	"github.com/xdslint/xdslint/internal/parallel"
)

// Build finds all references between the snapshot's resources. Call it once, after the last Add.
func (s *Snapshot) Build() {
	linkAll(s.Resources)
	s.uses, s.lists, s.identity = &uses{}, &lists{}, &identity{}
	s.index()
	s.filters = newHTTPFilters(s.Resources)
	from := make(map[*Resource][]*Edge, len(s.Resources))
	for _, r := range s.Resources {
		if edges := s.connect(r); len(edges) > 0 {
			from[r] = edges
		}
	}
	s.from = layered.Of(from)
}

// linkAll finds the links of all resources, several resources at a time.
func linkAll(resources []*Resource) {
	parallel.Each(context.Background(), len(resources), func() func(int) {
		by := &linking{}
		return func(i int) { resources[i].link(by) }
	})
}

// index lists the resources by kind, by name and by what they carry.
func (s *Snapshot) index() {
	s.byKind, s.unread = map[Kind][]*Resource{}, map[Kind]int{}
	byName, carried := make(map[named][]*Resource, len(s.Resources)), map[named][]*Resource{}
	for _, r := range s.Resources {
		if r.Kind == Bootstrap && s.bootstrap == nil {
			s.boot(r)
		}
		s.dumped = s.dumped || r.State != ""
		s.byKind[r.Kind] = append(s.byKind[r.Kind], r)
		byName[named{r.Kind, r.Name}] = append(byName[named{r.Kind, r.Name}], r)
		l := r.links()
		if l.opaque {
			s.unread[r.Kind]++
		}
		for _, name := range l.carries {
			carried[name] = append(carried[name], r)
		}
		s.onDemand = s.onDemand || l.onDemand
		s.Subscriptions = append(s.Subscriptions, l.subscriptions...)
	}
	s.byName, s.carried = layered.Of(byName), layered.Of(carried)
}

// connect returns the edges of a resource: first those that it holds in the order of Walk, then those of per-filter configurations.
func (s *Snapshot) connect(r *Resource) []*Edge {
	references := r.links().references
	if len(references) == 0 {
		return s.filters.edges[r]
	}
	made, all := make([]Edge, len(references)), make([]*Edge, 0, len(references))
	for i, ref := range references {
		switch ref.leads {
		case toAllBelow:
			all = append(all, edgesToAll(ref, s.below(ref.Kind, ref.Target))...)
			continue
		case toAll:
			all = append(all, edgesToAll(ref, s.served(ref.Kind, ref.Source))...)
			continue
		case toResource:
			made[i].To = s.target(ref)
		case toItself:
			made[i].To = r
		case toNothing:
		}
		made[i].Reference = ref
		all = append(all, &made[i])
	}
	return append(all, s.filters.edges[r]...)
}

// target returns the resource that a reference leads to, or nil.
func (s *Snapshot) target(ref *Reference) *Resource {
	if carriers := s.carried.Get(named{ref.Kind, ref.Target}); len(carriers) > 0 {
		return carriers[0]
	}
	return s.Find(ref.Kind, ref.Source, ref.Target)
}

func edgesToAll(ref *Reference, resources []*Resource) []*Edge {
	var all []*Edge
	for _, r := range resources {
		one := *ref
		one.Target = r.Name
		all = append(all, &Edge{Reference: &one, To: r})
	}
	return all
}

// served returns the resources of a kind that a source serves, and those whose source is not known.
func (s *Snapshot) served(kind Kind, from Source) []*Resource {
	var all []*Resource
	for _, r := range s.byKind[kind] {
		if r.State != Failed && (from == Anywhere || r.Source == from || r.Source == Anywhere) {
			all = append(all, r)
		}
	}
	return all
}

// below returns the resources of a kind whose names continue a name after a slash.
func (s *Snapshot) below(kind Kind, name string) []*Resource {
	if s.children == nil {
		s.children = map[named][]*Resource{}
		for _, kind := range []Kind{VirtualHost, LbEndpoint} {
			for _, r := range s.byKind[kind] {
				if i := strings.LastIndexByte(r.Name, '/'); i >= 0 {
					s.children[named{kind, r.Name[:i]}] = append(s.children[named{kind, r.Name[:i]}], r)
				}
			}
		}
	}
	return s.children[named{kind, name}]
}
