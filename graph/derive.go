package graph

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/layered"
)

// deriving makes the indices of a snapshot from those of the one before it.
type deriving struct {
	before, after  *Snapshot
	removed, added []*Resource
	delta          *Delta

	gone, fresh map[*Resource]bool // removed, added

	names       []named               // that other resources have now
	reconnected map[*Resource][]*Edge // the edges that these had; of an added resource nil
	order       []*Resource           // of reconnected
}

func (d *deriving) touch(q Question) { d.delta.Touched[q] = true }

// index derives the lists by kind and by name. It reports false if a kind appears or vanishes, or if names are not unique.
func (d *deriving) index() bool {
	before, after := d.before, d.after
	after.bootstrap, after.rest, after.dumped, after.onDemand = before.bootstrap, before.rest, before.dumped, before.onDemand
	after.Subscriptions, after.children = before.Subscriptions, before.children
	after.byKind, after.unread = maps.Clone(before.byKind), maps.Clone(before.unread)
	after.byName, after.carried = before.byName.Copy(), before.carried.Copy()
	changed := map[Kind]bool{}
	for _, r := range d.removed {
		changed[r.Kind] = true
		if !d.forget(&after.byName, named{r.Kind, r.Name}, r) {
			return false
		}
		for _, name := range r.links().carries {
			if !d.forget(&after.carried, name, r) {
				return false
			}
		}
		if r.links().opaque {
			after.unread[r.Kind]--
		}
	}
	for _, r := range d.added {
		changed[r.Kind] = true
		if !d.know(&after.byName, named{r.Kind, r.Name}, r) {
			return false
		}
		for _, name := range r.links().carries {
			if !d.know(&after.carried, name, r) {
				return false
			}
		}
		if r.links().opaque {
			after.unread[r.Kind]++
		}
	}
	d.touch(Question{about: allOfKind})
	for kind := range changed {
		d.touch(Question{about: allOfKind, kind: kind})
		after.byKind[kind] = ofKind(after.Resources, kind, len(before.byKind[kind])+len(d.added))
		if !slices.EqualFunc(before.byKind[kind], after.byKind[kind], func(a, b *Resource) bool { return a.Name == b.Name }) {
			d.touch(Question{about: namesOfKind, kind: kind})
		}
		if len(after.byKind[kind]) == 0 || len(before.byKind[kind]) == 0 || (after.unread[kind] == 0) != (before.unread[kind] == 0) {
			return false
		}
	}
	if changed[Bootstrap] {
		d.bootstrap()
	}
	d.touchNames()
	return true
}

// bootstrap derives the bootstrap. What others ask about it has the same answers if only its static resources differ: of its resource, they
// can only show where something is, and such a judgement does not outlast the resource.
func (d *deriving) bootstrap() {
	before, after := d.before, d.after
	after.boot(after.byKind[Bootstrap][0])
	readable := len(before.bootstrap.Problems)+len(after.bootstrap.Problems) == 0
	if after.rest == nil || before.rest == nil || !readable || !proto.Equal(before.rest, after.rest) {
		d.touch(Question{about: booting})
	}
}

// forget removes a resource from an index, and reports whether it was the only one with the name.
func (d *deriving) forget(index *layered.Map[named, []*Resource], name named, r *Resource) bool {
	d.names = append(d.names, name)
	if known := index.Get(name); len(known) != 1 || known[0] != r {
		return false
	}
	index.Delete(name)
	return true
}

// know adds a resource to an index, and reports whether it is the only one with the name.
func (d *deriving) know(index *layered.Map[named, []*Resource], name named, r *Resource) bool {
	d.names = append(d.names, name)
	if len(index.Get(name)) > 0 {
		return false
	}
	index.Set(name, []*Resource{r})
	return true
}

// ofKind returns the resources of a kind, at most n.
func ofKind(resources []*Resource, kind Kind, n int) []*Resource {
	all := make([]*Resource, 0, n)
	for _, r := range resources {
		if r.Kind == kind {
			all = append(all, r)
		}
	}
	return all
}

// touchNames touches the names that lead to other resources now, and the types of the messages in what changed.
func (d *deriving) touchNames() {
	for _, name := range d.names {
		d.touch(Question{about: resourceNamed, kind: name.kind, name: name.name})
	}
	for _, r := range slices.Concat(d.removed, d.added) {
		for _, md := range *r.shape {
			d.touch(Question{about: placesOfType, name: string(md.FullName())})
		}
	}
}

// filters derives what per-filter configurations can refer to.
func (d *deriving) filters() {
	d.reconnected = map[*Resource][]*Edge{}
	d.after.filters = d.before.filters
	if !slices.ContainsFunc(slices.Concat(d.removed, d.added), func(r *Resource) bool { return r.links().http != nil }) {
		return
	}
	d.touch(Question{about: filterChoices})
	was := d.before.filters.edges
	d.after.filters = newHTTPFilters(d.after.Resources)
	is := d.after.filters.edges
	for _, r := range d.after.Resources {
		if len(was[r])+len(is[r]) == 0 {
			continue
		}
		if slices.EqualFunc(was[r], is[r], sameKey) {
			is[r] = was[r]
		} else {
			d.reconnect(r)
		}
	}
}

func sameKey(a, b *Edge) bool {
	return a.Place == b.Place && a.Field == b.Field && a.Target == b.Target && a.To == b.To
}

// reconnect makes the edges of a resource again.
func (d *deriving) reconnect(r *Resource) {
	if _, known := d.reconnected[r]; !known {
		d.reconnected[r] = d.before.from.Get(r)
		d.order = append(d.order, r)
	}
}

// edges derives the edges: those of what changed, and those that lead to what changed. It reports false if one of these resources is not the
// only one of its name: into orders edges by names.
func (d *deriving) edges() bool {
	for _, r := range slices.Concat(d.removed, d.added) {
		d.reconnect(r)
	}
	for _, name := range d.names {
		for _, r := range d.before.waiting(name) {
			d.reconnect(r)
		}
	}
	d.waiting()
	d.after.from = d.before.from.Copy()
	for _, r := range d.order {
		was := d.reconnected[r]
		var is []*Edge
		if !d.gone[r] {
			if len(d.after.Named(r.Kind, r.Name)) > 1 {
				return false
			}
			is = d.after.connect(r)
			keepEqual(is, was)
		}
		if slices.Equal(is, was) {
			continue
		}
		d.after.from.Set(r, is)
		if len(is) == 0 {
			d.after.from.Delete(r)
		}
		d.touch(Question{about: edgesFrom, of: r})
		d.touchDifferent(was, is)
	}
	return true
}

// keepEqual replaces edges by those from before that are equal.
func keepEqual(is, was []*Edge) {
	if len(is) != len(was) {
		return
	}
	for i := range is {
		if is[i].Reference == was[i].Reference && is[i].To == was[i].To {
			is[i] = was[i]
		}
	}
}

// touchDifferent touches the lists that hold one of the edges, but not both.
func (d *deriving) touchDifferent(was, is []*Edge) {
	d.touch(Question{about: referencesToKind})
	touch := func(e *Edge) {
		d.touch(Question{about: referencesToKind, kind: e.Kind})
		d.touch(Question{about: referencesInField, name: string(e.Field)})
	}
	for i := range max(len(is), len(was)) {
		if i < len(is) && i < len(was) && is[i] == was[i] {
			continue
		}
		if i < len(is) {
			touch(is[i])
		}
		if i < len(was) {
			touch(was[i])
		}
	}
}

// waiting derives the index of the resources that refer to a name.
func (d *deriving) waiting() {
	index := d.before.uses.waiting.Copy()
	for _, r := range d.removed {
		for _, name := range needs(r) {
			others := slices.DeleteFunc(slices.Clone(index.Get(name)), func(other *Resource) bool { return other == r })
			if index.Set(name, others); len(others) == 0 {
				index.Delete(name)
			}
		}
	}
	for _, r := range d.added {
		for _, name := range needs(r) {
			index.Set(name, append(slices.Clone(index.Get(name)), r))
		}
	}
	d.after.uses.waitingOnce.Do(func() { d.after.uses.waiting = index })
}

// into derives the index of edges by the resource that they lead to.
func (d *deriving) into() {
	d.before.To(nil) // makes the index
	index := d.before.uses.to.Copy()
	fresh := map[*Resource][]*Edge{}
	var targets []*Resource
	note := func(from *Resource, e *Edge, add bool) {
		if e.To == nil || e.To == from {
			return
		}
		if _, known := fresh[e.To]; !known {
			targets = append(targets, e.To)
			fresh[e.To] = nil
		}
		if add {
			fresh[e.To] = append(fresh[e.To], e)
		}
	}
	for _, r := range d.order {
		for _, e := range d.reconnected[r] {
			note(r, e, false)
		}
		for _, e := range d.after.from.Get(r) {
			note(r, e, true)
		}
	}
	for _, to := range targets {
		was := index.Get(to)
		is := slices.DeleteFunc(slices.Clone(was), func(e *Edge) bool {
			_, again := d.reconnected[e.From]
			return again
		})
		is = append(is, fresh[to]...)
		sortByOrigin(is)
		if !slices.Equal(is, was) {
			index.Set(to, is)
			d.touch(Question{about: edgesInto, of: to})
		}
	}
	for _, r := range d.removed {
		index.Delete(r)
	}
	d.after.uses.toOnce.Do(func() { d.after.uses.to = index })
}

// reach derives which resources traffic reaches, if the graph has the same shape. If not, it is found again when it is asked for.
func (d *deriving) reach() {
	if !d.sameShape() {
		d.touch(Question{about: reachable})
		return
	}
	d.before.Serves(nil) // makes the index
	index := d.before.uses.reached.Copy()
	for _, r := range d.removed {
		if index.Get(r) {
			index.Delete(r)
			index.Set(d.after.Named(r.Kind, r.Name)[0], true)
		}
	}
	d.after.uses.reachedOnce.Do(func() { d.after.uses.reached = index })
}

// sameShape reports whether each removed resource has a successor of its name, with edges to the same resources or their successors.
func (d *deriving) sameShape() bool {
	if len(d.removed) != len(d.added) {
		return false
	}
	for _, r := range d.removed {
		next := d.after.Named(r.Kind, r.Name)
		if len(next) != 1 || !d.sameTargets(d.before.from.Get(r), d.after.from.Get(next[0])) {
			return false
		}
	}
	for _, r := range d.order {
		if !d.gone[r] && !d.fresh[r] && !d.sameTargets(d.before.from.Get(r), d.after.from.Get(r)) {
			return false
		}
	}
	return true
}

func (d *deriving) sameTargets(was, is []*Edge) bool {
	return slices.EqualFunc(was, is, func(a, b *Edge) bool {
		return a.To == b.To || d.gone[a.To] && d.fresh[b.To] && a.To.Kind == b.To.Kind && a.To.Name == b.To.Name
	})
}
