package graph

import (
	"context"
	"slices"
	"sort"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/parallel"
)

// Change is one resource that differs between two snapshots.
type Change struct {
	Kind     Kind
	Name     string
	Old, New *Resource // nil: not in that snapshot
}

// Added reports whether only the new snapshot has the resource.
func (c *Change) Added() bool { return c.Old == nil }

// Removed reports whether only the old snapshot has the resource.
func (c *Change) Removed() bool { return c.New == nil }

// Changed reports whether both snapshots have the resource, with different content.
func (c *Change) Changed() bool { return c.Old != nil && c.New != nil }

// Changes lists the resources that differ between two snapshots. Resources of a bootstrap are left out: no push changes them.
type Changes struct {
	Old, New *Snapshot
	All      []*Change // by kind, in the order of Kinds, then by name

	byName map[Kind]map[string]*Change
}

// Diff returns what a push of the new snapshot changes for a data plane that has the old one. Both must be built.
// Resources are matched by kind and name. Their content is compared as messages, through every Any, so neither layout
// nor the order of a map matters.
func Diff(before, after *Snapshot) *Changes {
	var all []*Change
	for _, kind := range Kinds() {
		for _, name := range pushedNames(before, after, kind) {
			all = append(all, &Change{Kind: kind, Name: name, Old: before.Pushed(kind, name), New: after.Pushed(kind, name)})
		}
	}
	c := &Changes{Old: before, New: after, byName: map[Kind]map[string]*Change{}}
	for i, same := range unchanged(all) {
		if same {
			continue
		}
		change := all[i]
		c.All = append(c.All, change)
		if c.byName[change.Kind] == nil {
			c.byName[change.Kind] = map[string]*Change{}
		}
		c.byName[change.Kind][change.Name] = change
	}
	return c
}

// unchanged compares several resources in parallel.
func unchanged(all []*Change) []bool {
	same := make([]bool, len(all))
	parallel.Each(context.Background(), len(all), func() func(int) {
		return func(i int) { same[i] = all[i].Changed() && Equal(all[i].Old, all[i].New) }
	})
	return same
}

// pushedNames returns the names of a kind that xDS delivers in one of the snapshots, without those whose resources are the same in both.
func pushedNames(before, after *Snapshot, kind Kind) []string {
	removed, added := before.apart(before.byKind[kind], after.byKind[kind])
	seen := map[string]bool{}
	var names []string
	for _, s := range []struct {
		snapshot  *Snapshot
		resources []*Resource
	}{{before, removed}, {after, added}} {
		for _, r := range s.resources {
			if !seen[r.Name] && (before.Pushed(kind, r.Name) != nil || after.Pushed(kind, r.Name) != nil) {
				seen[r.Name] = true
				names = append(names, r.Name)
			}
		}
	}
	sort.Strings(names)
	return names
}

// apart returns the resources that only one of two lists has. The first one is of the snapshot. If those that both have are not in the same
// order, it returns all.
func (s *Snapshot) apart(before, after []*Resource) (removed, added []*Resource) {
	i := 0
	for _, r := range after {
		switch {
		case i < len(before) && before[i] == r:
			i++
		case !slices.Contains(s.Named(r.Kind, r.Name), r):
			added = append(added, r)
		default:
			skipped := slices.Index(before[i:], r)
			if skipped < 0 {
				return before, after
			}
			removed = append(removed, before[i:i+skipped]...)
			i += skipped + 1
		}
	}
	return append(removed, before[i:]...), added
}

// Of returns the changes of a kind, sorted by name.
func (c *Changes) Of(kind Kind) []*Change {
	var all []*Change
	for _, change := range c.All {
		if change.Kind == kind {
			all = append(all, change)
		}
	}
	return all
}

// Find returns the change of a resource, or nil if both snapshots have the same, or neither has it.
func (c *Changes) Find(kind Kind, name string) *Change { return c.byName[kind][name] }

// Pushed returns the resource that xDS delivers under a name, or nil if there is none. Of several it returns the first.
func (s *Snapshot) Pushed(kind Kind, name string) *Resource {
	for _, r := range s.Named(kind, name) {
		if r.Delivery == OverXDS && r.State != Failed {
			return r
		}
	}
	return nil
}

// Equal reports whether two resources mean the same to a data plane. It ignores their TTL.
func Equal(a, b *Resource) bool {
	if a == b {
		return true
	}
	if a.Message == nil || b.Message == nil {
		return a.Message == nil && b.Message == nil
	}
	if proto.Equal(a.Message, b.Message) {
		return true
	}
	// Without Anys, equal messages are the only way to mean the same.
	return len(a.Contents) > 0 && len(b.Contents) > 0 && proto.Equal(a.canonical(), b.canonical())
}

// canonical returns the resource's message with the content of its Anys encoded again, since equal messages can have unequal bytes.
func (r *Resource) canonical() proto.Message { return r.CanonicalOf(r.Message) }

// CanonicalOf returns a message of the resource in the form that Equal compares.
func (r *Resource) CanonicalOf(m proto.Message) proto.Message {
	clone := proto.Clone(m)
	rewriteAnys(r, m.ProtoReflect(), clone.ProtoReflect())
	return clone
}

// rewriteAnys walks a message and its copy side by side: Contents is keyed by the original's Anys.
func rewriteAnys(r *Resource, m, clone protoreflect.Message) {
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		content := r.Contents[m.Interface()]
		if content == nil {
			return
		}
		if bytes, err := (proto.MarshalOptions{AllowPartial: true, Deterministic: true}).Marshal(r.CanonicalOf(content)); err == nil {
			clone.Set(clone.Descriptor().Fields().ByNumber(2), protoreflect.ValueOfBytes(bytes))
		}
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			copied := clone.Mutable(fd).Map()
			v.Map().Range(func(k protoreflect.MapKey, inner protoreflect.Value) bool {
				rewriteAnys(r, inner.Message(), copied.Mutable(k).Message())
				return true
			})
		case fd.IsList() && fd.Message() != nil:
			copied := clone.Mutable(fd).List()
			for i := range v.List().Len() {
				rewriteAnys(r, v.List().Get(i).Message(), copied.Get(i).Message())
			}
		case !fd.IsMap() && !fd.IsList() && fd.Message() != nil:
			rewriteAnys(r, v.Message(), clone.Mutable(fd).Message())
		}
		return true
	})
}
