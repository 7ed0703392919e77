package constraint

import (
	"strings"
	"sync"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/internal/fields"
)

// Violation is one violated constraint of a field, or of an element of it.
type Violation struct {
	Field protoreflect.FieldDescriptor // nil for a required oneof
	Oneof protoreflect.OneofDescriptor // set for a required oneof
	Index int                          // element of a repeated field; -1 otherwise
	Key   protoreflect.MapKey          // element of a map field; otherwise not IsValid
	OnKey bool                         // the map's key, not its value, breaks the constraint

	// Message says what is wrong, without the field's name: "is 70000, must be at most 65535". It never quotes a string
	// or bytes, since an enclosing field may be a secret, and nothing of a field that is marked as sensitive.
	Message string
	// Upstream is the reason as PGV's C++ gives it and Envoy prints it: "value must be greater than 0s".
	Upstream string
}

// Checker checks the constraints of one message type. It is immutable.
type Checker struct {
	desc   protoreflect.MessageDescriptor
	fields []fieldCheck
	oneofs []oneofCheck
}

// fieldCheck checks one field of a message.
type fieldCheck interface {
	check(m fields.Message, report func(Violation))
}

var checkers sync.Map // of *Checker by protoreflect.MessageDescriptor; a nil *Checker where there is nothing to check

// For returns the checker of a message type, or nil if its proto has no constraints. It is safe for concurrent use.
// Checkers are kept forever, by descriptor.
func For(md protoreflect.MessageDescriptor) *Checker {
	if c, ok := checkers.Load(md); ok {
		return c.(*Checker)
	}
	c, _ := checkers.LoadOrStore(md, compile(md, rulesOf))
	return c.(*Checker)
}

// API is another version of the protos: Options returns the options of a field if they differ from those of its
// descriptor. Its values must be comparable.
type API interface {
	Options(field protoreflect.FullName) (options *descriptorpb.FieldOptions, ok bool)
}

type version struct {
	api API
	md  protoreflect.MessageDescriptor
}

var versions sync.Map // of *Checker by version

// ForVersion is like For, with the constraints of another version of the protos.
func ForVersion(md protoreflect.MessageDescriptor, api API) *Checker {
	key := version{api, md}
	if c, ok := versions.Load(key); ok {
		return c.(*Checker)
	}
	differs := false
	c := compile(md, func(fd protoreflect.FieldDescriptor) *validate.FieldRules {
		options, ok := api.Options(fd.FullName())
		differs = differs || ok
		if ok {
			return rulesIn(options)
		}
		return rulesOf(fd)
	})
	if !differs {
		c = For(md)
	}
	versions.Store(key, c)
	return c
}

// Violations returns what Check reports.
func (c *Checker) Violations(m protoreflect.Message) []Violation {
	list := collectors.Get().(*collector)
	c.Check(m, list.add)
	found := list.found
	list.found = nil
	collectors.Put(list)
	return found
}

// collector collects violations. Most messages have none, so it is used again.
type collector struct {
	found []Violation
	add   func(Violation)
}

var collectors = sync.Pool{New: func() any {
	list := &collector{}
	list.add = func(v Violation) { list.found = append(list.found, v) }
	return list
}}

// Check reports every violated constraint of m itself, but not of the messages in it. The order is that in which Envoy
// finds them: fields as declared, then those with explicit presence, then oneofs.
func (c *Checker) Check(m protoreflect.Message, report func(Violation)) {
	if c == nil {
		return
	}
	if m.Descriptor() != c.desc { // e.g. a dynamic twin of a linked type: reading it with our descriptors would panic
		if c = For(m.Descriptor()); c == nil {
			return
		}
	}
	in := fields.In(m)
	for _, f := range c.fields {
		f.check(in, report)
	}
	for i := range c.oneofs {
		c.oneofs[i].check(in, report)
	}
}

// oneofCheck checks that a oneof is set, and checks its member.
type oneofCheck struct {
	desc     protoreflect.OneofDescriptor
	required bool // (validate.required)
	members  []fields.Field
	checks   map[protoreflect.FieldNumber]fieldCheck // of members
}

func (o *oneofCheck) check(m fields.Message, report func(Violation)) {
	for i := range o.members {
		if member := &o.members[i]; m.IsSet(member) {
			if check := o.checks[member.Number()]; check != nil {
				check.check(m, report)
			}
			return
		}
	}
	if o.required {
		report(Violation{
			Oneof: o.desc, Index: -1,
			Message:  "is required: " + choices(o.desc),
			Upstream: "is required",
		})
	}
}

// choices returns the names of the members of a oneof, if they are few enough to read.
func choices(od protoreflect.OneofDescriptor) string {
	const few = 6
	if od.Fields().Len() > few {
		return "one of its fields must be set"
	}
	names := make([]string, od.Fields().Len())
	for i := range names {
		names[i] = string(od.Fields().Get(i).Name())
	}
	if len(names) == 1 {
		return names[0] + " must be set"
	}
	return "one of " + strings.Join(names, ", ") + " must be set"
}
