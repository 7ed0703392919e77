package decode

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/tree"
)

// plan is how a type of messages is read. To find that out from its descriptor for each message takes longer than to read the values.
type plan struct {
	name   protoreflect.FullName
	read   reader // of a type with a special JSON form; nil: it is a map of its fields
	all    protoreflect.FieldDescriptors
	fields []planned // by their index
}

// planned is how a field is read.
type planned struct {
	fields.Field
	step    tree.Step // to it, if it is neither a list nor a map
	list    bool
	mapping bool
	message bool // or a list of messages
	oneof   bool // it is one of several alternatives
	null    bool // JSON's null is a value of it, or of its elements
	lists   bool // its elements can be lists
	watched bool
}

var plans sync.Map // protoreflect.MessageDescriptor → *plan

func planOf(md protoreflect.MessageDescriptor) *plan {
	if known, ok := plans.Load(md); ok {
		return known.(*plan)
	}
	p := &plan{name: md.FullName(), read: wellKnown[md.FullName()], all: md.Fields(), fields: make([]planned, md.Fields().Len())}
	for i := range p.fields {
		p.fields[i] = planField(p.all.Get(i))
	}
	known, _ := plans.LoadOrStore(md, p)
	return known.(*plan)
}

func planField(fd protoreflect.FieldDescriptor) planned {
	oneof, inner := fd.ContainingOneof(), fd.Message()
	p := planned{
		Field: fields.One(fd), step: tree.ToField(string(fd.Name())), list: fd.IsList(), mapping: fd.IsMap(), message: inner != nil,
		oneof: oneof != nil && !oneof.IsSynthetic(), null: holdsNull(fd),
	}
	if inner != nil {
		name := inner.FullName()
		p.lists = name == "google.protobuf.Value" || name == "google.protobuf.ListValue"
		p.watched = watched[name]
	}
	return p
}

// named returns a field by its proto or JSON name, or nil.
func (p *plan) named(key string) *planned {
	if fd := FieldNamed(p.all, key); fd != nil {
		return &p.fields[fd.Index()]
	}
	return nil
}

// numbered returns a field that the type has.
func (p *plan) numbered(n protoreflect.FieldNumber) *planned {
	return &p.fields[p.all.ByNumber(n).Index()]
}

// holdsNull reports whether JSON's null is a value of the field.
func holdsNull(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Value" ||
		fd.Enum() != nil && fd.Enum().FullName() == "google.protobuf.NullValue"
}
