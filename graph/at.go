package graph

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/tree"
)

// At is a place that a finding can point to: a message, or one of its fields. Rules make many of them and report few, so
// the last steps become a Path only when it is asked for.
type At struct {
	Place *Place
	path  *Path        // without the last steps
	last  [2]tree.Step // enough for an element of a list in a message
	steps int          // how many of last there are
	key   bool
}

// At points to the message itself.
func (p *Place) At() At { return At{Place: p, path: p.Path} }

// At points to the name that the reference holds.
func (e *Edge) At() At { return At{Place: e.Place, path: e.Path} }

// At points to the resource's own message.
func (r *Resource) At() At {
	place := &Place{Resource: r}
	if r.Message != nil {
		place.Message = r.Message.ProtoReflect()
	}
	return At{Place: place}
}

// AtPath points to a field of the resource.
func (r *Resource) AtPath(path *Path) At {
	at := r.At()
	at.path, at.steps = path, 0
	return at
}

// AtName points to the resource's name, or to the resource if it has none.
func (r *Resource) AtName() At {
	at := r.At()
	if at.Place.Message == nil {
		return at
	}
	for _, name := range []protoreflect.Name{"name", "cluster_name"} {
		if fd := at.Place.Message.Descriptor().Fields().ByName(name); fd != nil && at.Place.Message.Has(fd) {
			return at.Field(string(name))
		}
	}
	return at
}

// Resource returns the resource that the place is in.
func (at At) Resource() *Resource { return at.Place.Resource }

// Path returns the path from the resource's message.
func (at At) Path() *Path {
	path := at.path
	for _, step := range at.last[:at.steps] {
		path = step.After(path)
	}
	return path
}

// after points one step further.
func (at At) after(step tree.Step) At {
	if at.steps == len(at.last) {
		at.path, at.last[0] = at.last[0].After(at.path), at.last[1]
		at.steps--
	}
	at.last[at.steps] = step
	at.steps++
	return at
}

// Span returns the text that a finding points to: the value, or the field's name after Key or where the value has no text.
func (at At) Span() Span {
	found := at.Resource().Locate(at.Path())
	if (at.key || !found.Exact) && !found.Key.IsZero() {
		return found.Key
	}
	return found.Value
}

// Field points to a field. Several names lead through nested messages.
func (at At) Field(names ...string) At {
	for _, name := range names {
		at = at.after(tree.ToField(name))
	}
	return at
}

// Item points to element i of a repeated field.
func (at At) Item(name string, i int) At { return at.after(tree.ToItem(name, i)) }

// Entry points to the value under a key of a map field.
func (at At) Entry(name, key string) At { return at.after(tree.ToEntry(name, key)) }

// Key points to the field's name instead of its value.
func (at At) Key() At {
	at.key = true
	return at
}

// Content returns the message that an Any holds, or nil if it is not known.
func (at At) Content(any proto.Message) proto.Message { return at.Resource().Contents[any] }

// As returns the message of a place if its type is M. The place may be nil.
func As[M proto.Message](p *Place) (m M, ok bool) {
	if p == nil || p.Message == nil {
		return m, false
	}
	m, ok = p.Message.Interface().(M)
	return m, ok
}

// Around returns the nearest message of type M that encloses a place, or is at it, and its place. Where is nil if there is none.
func Around[M proto.Message](p *Place) (m M, where *Place) {
	where = p.Enclosing(m.ProtoReflect().Descriptor().FullName())
	m, ok := As[M](where)
	if !ok {
		return m, nil
	}
	return m, where
}
