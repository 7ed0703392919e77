package decode

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/xdslint/xdslint/graph/source"
)

// Types finds message types by full name; *protoregistry.Types does.
type Types interface {
	FindMessageByName(protoreflect.FullName) (protoreflect.MessageType, error)
}

// maxDepth bounds how deep messages may nest, as protobuf's JSON reader does.
const maxDepth = 100

// ProblemKind says what is wrong with a text as a message of its type.
type ProblemKind uint8

// The kinds of problems.
const (
	UnknownField ProblemKind = iota // a key that is no field of the message
	UnknownEnum                     // a name that is no value of the enum
	UnknownType                     // an Any whose type is not linked in
	BadAny                          // an Any without "@type", or whose bytes are not of its type
	BadValue                        // a value that the field's type cannot hold
	OneofTwice                      // two members of one oneof
	DuplicateKey                    // a key twice in one map
	TooDeep                         // nesting beyond every limit
	Syntax                          // the text is no YAML, JSON or proto text; Name is "template" where it has to be rendered first
	Unreadable                      // the file could not be read: missing, empty, too large
	OldType                         // a v2 message; Name is its type
)

// Problem is one place where a text is no message of its type. The rest of the text is decoded all the same.
type Problem struct {
	Kind    ProblemKind
	Path    *Path
	Span    source.Span
	Message string
	Name    string                         // of the unknown field, enum value or type
	In      protoreflect.MessageDescriptor // the message that lacks the field
	Enum    protoreflect.EnumDescriptor    // the enum that lacks the value
	Node    *Node                          // what stands there; nil for binary input
	Lenient bool                           // Envoy takes it: duplicate keys in YAML, for example
}

// Contents tells what the Anys of one input hold, all decoded when the input was read. It also knows the messages that
// TypedStructs stand for.
type Contents map[proto.Message]proto.Message

// Decoder makes messages of texts.
type Decoder struct {
	Types    Types
	Contents Contents
	Problems []Problem
	JSON     bool // the text is JSON: Envoy does not take duplicate keys in a Struct
}

// NewDecoder returns a decoder for one input. With nil types it knows those that are linked into the program.
func NewDecoder(types Types) *Decoder {
	if types == nil {
		types = protoregistry.GlobalTypes
	}
	return &Decoder{Types: types, Contents: Contents{}}
}

// Decode fills m from a text. What does not fit is left out of m and noted in d.Problems, under at.
func (d *Decoder) Decode(n *Node, m proto.Message, at *Path) {
	d.message(n, m.ProtoReflect(), at, 0)
}

func (d *Decoder) problem(kind ProblemKind, n *Node, at *Path, format string, args ...any) *Problem {
	d.Problems = append(d.Problems, Problem{Kind: kind, Path: at, Span: n.Span(), Node: n, Message: fmt.Sprintf(format, args...)})
	return &d.Problems[len(d.Problems)-1]
}

func (d *Decoder) message(n *Node, m protoreflect.Message, at *Path, depth int) {
	if depth > maxDepth {
		d.problem(TooDeep, n, at, "messages nest more than %d deep", maxDepth)
		return
	}
	if read := wellKnown[m.Descriptor().FullName()]; read != nil {
		read(d, n, m, at, depth)
		return
	}
	if n.Kind != Map {
		d.problem(BadValue, n, at, "%s stands where a %s belongs, which is a map of its fields", n.Kind, m.Descriptor().FullName())
		return
	}
	d.fields(n, m, at, depth, false)
}

// fields reads the entries of a map into the fields of a message.
func (d *Decoder) fields(n *Node, m protoreflect.Message, at *Path, depth int, inAny bool) {
	fields := m.Descriptor().Fields()
	twice := shadowed(n)
	var oneofs map[protoreflect.Name]string
	for i := range n.Keys {
		key, value := &n.Keys[i], &n.Items[i]
		if inAny && key.Name == "@type" {
			continue
		}
		fd := fieldByKey(fields, key.Name)
		if fd == nil {
			d.unknownField(key, value, m.Descriptor(), at)
			continue
		}
		if twice(i) {
			d.duplicateKey(key, value, at.Field(string(fd.Name())), true)
			continue
		}
		if value.Kind == Null && !holdsNull(fd) {
			continue
		}
		if oneof := fd.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
			if first := oneofs[oneof.Name()]; first != "" {
				p := d.problem(OneofTwice, value, at.Field(string(fd.Name())), "only one of %s and %s can be set: both are alternatives of %s", first, fd.Name(), oneof.Name())
				p.Span = key.Span()
				continue
			}
			if oneofs == nil {
				oneofs = map[protoreflect.Name]string{}
			}
			oneofs[oneof.Name()] = string(fd.Name())
		}
		d.field(value, m, fd, at, depth)
	}
}

func fieldByKey(fields protoreflect.FieldDescriptors, key string) protoreflect.FieldDescriptor {
	if fd := fields.ByName(protoreflect.Name(key)); fd != nil {
		return fd
	}
	return fields.ByJSONName(key)
}

// holdsNull tells the fields for which JSON's null is a value.
func holdsNull(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Value" ||
		fd.Enum() != nil && fd.Enum().FullName() == "google.protobuf.NullValue"
}

func (d *Decoder) unknownField(key *Key, value *Node, md protoreflect.MessageDescriptor, at *Path) {
	p := d.problem(UnknownField, value, at.Field(key.Name), "%s has no field %q", md.FullName(), key.Name)
	p.Span, p.Name, p.In = key.Span(), key.Name, md
}

// shadowed tells of each entry whether its key stands in the map once more, further down; the last one wins.
func shadowed(n *Node) func(i int) bool {
	if len(n.Keys) <= 16 {
		return func(i int) bool { return n.entry(n.Keys[i].Name) != i }
	}
	last := make(map[string]int, len(n.Keys))
	for i := range n.Keys {
		last[n.Keys[i].Name] = i
	}
	return func(i int) bool { return last[n.Keys[i].Name] != i }
}

func (d *Decoder) duplicateKey(key *Key, value *Node, at *Path, lenient bool) {
	p := d.problem(DuplicateKey, value, at, "the key %q stands here twice", key.Name)
	p.Span, p.Name, p.Lenient = key.Span(), key.Name, lenient
}

func (d *Decoder) field(n *Node, m protoreflect.Message, fd protoreflect.FieldDescriptor, at *Path, depth int) {
	name := string(fd.Name())
	switch {
	case fd.IsMap():
		d.mapField(n, m, fd, at, depth)
	case fd.IsList() && n.Kind == List:
		list := m.Mutable(fd).List()
		for i := range n.Items {
			d.element(&n.Items[i], list, fd, at.Item(name, i), depth)
		}
	case fd.IsList(): // Envoy takes a bare value for a list of one
		d.element(n, m.Mutable(fd).List(), fd, at.Item(name, 0), depth)
	case fd.Message() != nil:
		d.message(n, m.Mutable(fd).Message(), at.Field(name), depth+1)
	default:
		if v, ok := d.scalar(n, fd, at.Field(name)); ok {
			m.Set(fd, v)
		}
	}
}

// element appends to a list. A broken message keeps its place, so that indices in paths stay true.
func (d *Decoder) element(n *Node, list protoreflect.List, fd protoreflect.FieldDescriptor, at *Path, depth int) {
	if fd.Message() != nil {
		m := list.AppendMutable().Message()
		if n.Kind != Null || holdsNull(fd) {
			d.message(n, m, at, depth+1)
		}
		return
	}
	if v, ok := d.scalar(n, fd, at); ok {
		list.Append(v)
	}
}

func (d *Decoder) mapField(n *Node, m protoreflect.Message, fd protoreflect.FieldDescriptor, at *Path, depth int) {
	name := string(fd.Name())
	if n.Kind != Map {
		d.problem(BadValue, n, at.Field(name), "%s stands where a map belongs", n.Kind)
		return
	}
	entries := m.Mutable(fd).Map()
	twice := shadowed(n)
	for i := range n.Keys {
		key, value := &n.Keys[i], &n.Items[i]
		here := at.Entry(name, key.Name)
		if twice(i) {
			d.duplicateKey(key, value, here, !d.JSON)
			continue
		}
		k, ok := d.scalar(&Node{Kind: String, Text: key.Name, start: key.start, end: key.end}, fd.MapKey(), here)
		if !ok {
			continue
		}
		if fd.MapValue().Message() != nil {
			v := entries.NewValue()
			if value.Kind != Null || holdsNull(fd.MapValue()) {
				d.message(value, v.Message(), here, depth+1)
			}
			entries.Set(k.MapKey(), v)
		} else if v, ok := d.scalar(value, fd.MapValue(), here); ok {
			entries.Set(k.MapKey(), v)
		}
	}
}
