package graph

import (
	"maps"
	"slices"
)

// Delta says how a snapshot differs from the one that it was made from.
type Delta struct {
	before         *identity // of that one
	Removed, Added []*Resource
	Touched        map[Question]bool // the questions whose answers may differ
}

// identity stands for a snapshot, and does not keep it in memory.
type identity struct{ _ byte }

// Since returns how the snapshot differs from an earlier one, or nil if With did not make it from that one at the cost of a change.
func (s *Snapshot) Since(before *Snapshot) *Delta {
	if s.delta == nil || before == nil || s.delta.before != before.identity {
		return nil
	}
	return s.delta
}

// With returns a built snapshot with other resources, in the same world. If this one is built, and most resources are the same, in the same order,
// it costs what differs.
func (s *Snapshot) With(resources []*Resource) *Snapshot {
	removed, added, ok := s.difference(resources)
	if ok && len(removed)+len(added) == 0 {
		return s
	}
	if ok && len(removed)+len(added) <= 8+len(resources)/4 {
		if made := s.derive(resources, removed, added); made != nil {
			return made
		}
	}
	made := s.world(resources)
	made.Build()
	return made
}

// BuiltAfter returns the snapshot, built. If an earlier one is in the same world, it is made from that one, as With does. Earlier may be nil.
func (s *Snapshot) BuiltAfter(earlier *Snapshot) *Snapshot {
	if earlier != nil && s.sameWorld(earlier) {
		return earlier.With(s.Resources)
	}
	s.Build()
	return s
}

func (s *Snapshot) sameWorld(other *Snapshot) bool {
	a, b := s.Assumptions, other.Assumptions
	return s.Name == other.Name && s.NoBootstrap == other.NoBootstrap && maps.Equal(s.complete, other.complete) &&
		slices.Equal(a.Names, b.Names) && slices.Equal(a.Open, b.Open) && slices.Equal(a.Closed, b.Closed)
}

// world returns a snapshot with other resources in the same world, not built.
func (s *Snapshot) world(resources []*Resource) *Snapshot {
	return &Snapshot{Name: s.Name, Resources: resources, NoBootstrap: s.NoBootstrap, UserAgent: s.UserAgent, Assumptions: s.Assumptions, complete: maps.Clone(s.complete)}
}

// difference returns the resources that only one of two lists has. It is not ok if the resources that both have are not in the same order,
// or if the snapshot is not built.
func (s *Snapshot) difference(resources []*Resource) (removed, added []*Resource, ok bool) {
	if s.identity == nil {
		return nil, nil, false
	}
	removed, added = s.apart(s.Resources, resources)
	moved := func(r *Resource) bool { return slices.Contains(s.Named(r.Kind, r.Name), r) }
	return removed, added, !slices.ContainsFunc(added, moved)
}

// derive makes a snapshot from another one. It returns nil for changes that can have effects everywhere, and for those that are rare.
func (s *Snapshot) derive(resources, removed, added []*Resource) *Snapshot {
	linkAll(added)
	if !s.local(removed) || !s.local(added) {
		return nil
	}
	made := s.world(resources)
	made.identity, made.uses, made.lists = &identity{}, &uses{}, &lists{}
	d := &deriving{before: s, after: made, removed: removed, added: added, gone: set(removed), fresh: set(added)}
	d.delta = &Delta{before: s.identity, Removed: removed, Added: added, Touched: map[Question]bool{}}
	if !d.index() {
		return nil
	}
	d.filters()
	if !d.edges() {
		return nil
	}
	d.into()
	d.reach()
	made.lists.inherit(s.lists, d.delta.Touched)
	made.delta = d.delta
	return made
}

func set(resources []*Resource) map[*Resource]bool {
	all := make(map[*Resource]bool, len(resources))
	for _, r := range resources {
		all[r] = true
	}
	return all
}

// local reports whether the resources matter only to what refers to them.
func (s *Snapshot) local(resources []*Resource) bool {
	return !slices.ContainsFunc(resources, func(r *Resource) bool {
		asked := len(s.Subscriptions) > 0 && (r.Kind == VirtualHost || r.Kind == LbEndpoint || r.Kind == ScopedRouteConfiguration)
		return asked || r.State != "" || r.Fragment || r.links().onDemand || len(r.links().subscriptions) > 0
	})
}
