// Package edits lists the single edits of a configuration that can change what happens to a request: what someone could write by mistake, and Envoy
// still accepts. Which ones there are follows from the descriptors of the messages: a field or an item is removed, two items are exchanged, a value is
// another one (values.go), and a name is that of something else of its kind.
package edits

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
)

// Edit gives a field of one message another value.
type Edit struct {
	At    graph.At // what is edited
	What  string   // what is done with it, as a clause after its name: "is removed"
	place *graph.Place
	field protoreflect.FieldDescriptor
	value protoreflect.Value // invalid: the field is not set
}

// kinds are the resources that decide what happens to requests.
var kinds = []graph.Kind{
	graph.Listener, graph.RouteConfiguration, graph.VirtualHost, graph.ScopedRouteConfiguration, graph.ExtensionConfig, graph.Cluster, graph.ClusterLoadAssignment,
}

// Of returns the edits of a snapshot, in the order of its text.
func Of(s *graph.Snapshot) (all []*Edit) {
	for _, r := range s.Decoded() {
		if !slices.Contains(kinds, r.Kind) {
			continue
		}
		l := &lister{snapshot: s, routes: r.Kind != graph.Cluster && r.Kind != graph.ClusterLoadAssignment, references: map[string]*graph.Edge{}}
		for _, e := range s.From(r) {
			l.references[e.Path.String()] = e
		}
		r.Walk(l.message)
		all = append(all, l.found...)
	}
	return all
}

// Do makes the edit, and returns the snapshot with it. The edit is made in place: until undo is called, the snapshot that the edit is of must not be
// used.
func (e *Edit) Do(s *graph.Snapshot) (edited *graph.Snapshot, undo func()) {
	undo = e.set()
	resources := slices.Clone(s.Resources)
	for i, r := range resources {
		if r == e.place.Resource {
			resources[i] = r.As(r.Name, r.Message)
		}
	}
	return s.With(resources), undo
}

// set changes the message, and returns what changes it back.
func (e *Edit) set() (undo func()) {
	m := e.place.Message
	before := held(m, e.field)
	put(m, e.field, e.value)
	return func() { put(m, e.field, before) }
}

// held returns the value of a field, which stays as it is when the field is set: what Get returns for a list or a map is the field itself.
func held(m protoreflect.Message, fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch {
	case !m.Has(fd):
		return protoreflect.Value{}
	case fd.IsList():
		return listOf(m, fd, func(j int) int { return j }, m.Get(fd).List().Len())
	case fd.IsMap():
		return mapOf(m, fd, func(protoreflect.MapKey) bool { return true })
	}
	return m.Get(fd)
}

func put(m protoreflect.Message, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	if v.IsValid() {
		m.Set(fd, v)
	} else {
		m.Clear(fd)
	}
}

// lister lists the edits of one resource.
type lister struct {
	snapshot   *graph.Snapshot
	routes     bool                   // it says which requests are meant, and not only where they go
	references map[string]*graph.Edge // by the path of the name
	found      []*Edit
}

// message adds the edits of the fields of one message.
func (l *lister) message(p *graph.Place) {
	if p.Message.Descriptor().FullName().Parent() == "google.protobuf" {
		return // a value of the message around it, or what only a filter knows
	}
	all := p.Message.Descriptor().Fields()
	for i := range all.Len() {
		fd := all.Get(i)
		switch at := p.At().Field(string(fd.Name())); {
		case !p.Message.Has(fd):
			if l.routes && fd.Kind() == protoreflect.BoolKind && !fd.IsList() && !fd.IsMap() && fd.ContainingOneof() == nil {
				l.add(p, at, fd, protoreflect.ValueOfBool(true), "is true")
			}
		case fd.IsMap():
			l.entries(p, fd)
		case fd.IsList():
			l.items(p, fd)
		default:
			if l.routes && fd.HasPresence() && !isAny(fd) {
				l.add(p, at, fd, protoreflect.Value{}, "is removed")
			}
			l.values(p, at, fd)
		}
	}
}

// isAny reports whether a field holds the configuration of an extension, without which Envoy rejects most of them.
func isAny(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Any"
}

// items removes each item of a list, and exchanges neighbours whose order can matter.
func (l *lister) items(p *graph.Place, fd protoreflect.FieldDescriptor) {
	name, items := string(fd.Name()), p.Message.Get(fd).List()
	for i := range items.Len() {
		at := p.At().Item(name, i)
		l.add(p, at, fd, listOf(p.Message, fd, func(j int) int { return skip(j, i) }, items.Len()-1), "is removed")
		if i+1 < items.Len() && fd.Message() != nil && !proto.Equal(items.Get(i).Message().Interface(), items.Get(i+1).Message().Interface()) {
			swapped := listOf(p.Message, fd, func(j int) int { return swap(j, i) }, items.Len())
			l.add(p, at, fd, swapped, fmt.Sprintf("comes after %s[%d]", name, i+1))
		}
	}
}

// skip returns where item j of a list is from that lacks item i, and swap where it is from if i is exchanged with the next one.
func skip(j, i int) int {
	if j >= i {
		j++
	}
	return j
}

func swap(j, i int) int {
	switch j {
	case i:
		return i + 1
	case i + 1:
		return i
	}
	return j
}

// listOf returns a list of n items of a field, from where from says.
func listOf(m protoreflect.Message, fd protoreflect.FieldDescriptor, from func(int) int, n int) protoreflect.Value {
	made := m.NewField(fd)
	for j := range n {
		made.List().Append(m.Get(fd).List().Get(from(j)))
	}
	if n == 0 {
		return protoreflect.Value{}
	}
	return made
}

// entries removes each entry of a map.
func (l *lister) entries(p *graph.Place, fd protoreflect.FieldDescriptor) {
	var keys []protoreflect.MapKey
	p.Message.Get(fd).Map().Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, key)
		return true
	})
	slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
	for _, removed := range keys {
		rest := mapOf(p.Message, fd, func(key protoreflect.MapKey) bool { return key.String() != removed.String() })
		l.add(p, p.At().Entry(string(fd.Name()), removed.String()), fd, rest, "is removed")
	}
}

// mapOf returns the entries of a field whose keys are kept.
func mapOf(m protoreflect.Message, fd protoreflect.FieldDescriptor, keep func(protoreflect.MapKey) bool) protoreflect.Value {
	made := m.NewField(fd)
	m.Get(fd).Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
		if keep(key) {
			made.Map().Set(key, v)
		}
		return true
	})
	if made.Map().Len() == 0 {
		return protoreflect.Value{}
	}
	return made
}

// add adds an edit, unless Envoy's constraints reject its result.
func (l *lister) add(p *graph.Place, at graph.At, fd protoreflect.FieldDescriptor, value protoreflect.Value, what string) {
	e := &Edit{At: at, What: what, place: p, field: fd, value: value}
	undo := e.set()
	defer undo()
	if len(constraint.For(p.Message.Descriptor()).Violations(p.Message)) == 0 {
		l.found = append(l.found, e)
	}
}
