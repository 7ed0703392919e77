package decode

import (
	"fmt"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/tree"
)

// DecodeBinary fills m from protobuf's wire format, and opens it.
func (d *Decoder) DecodeBinary(raw []byte, m proto.Message) error {
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(raw, m); err != nil {
		return err
	}
	d.Open(m)
	return nil
}

// Open decodes the content of all Anys and TypedStructs below m, for messages that were not read from a text.
func (d *Decoder) Open(m proto.Message) { d.open(m.ProtoReflect(), 0) }

func (d *Decoder) open(m protoreflect.Message, depth int) {
	if depth > tree.MaxDepth {
		d.problem(TooDeep, &tree.Node{}, "messages nest more than %d deep", tree.MaxDepth)
		return
	}
	adopt(m)
	d.watch(m)
	if raw := m.GetUnknown(); len(raw) > 0 {
		d.unknownNumbers(raw, m.Descriptor())
	}
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		d.openAny(m, depth)
		return
	}
	EachMessage(m, func(inner protoreflect.Message, step tree.Step) {
		d.enter(step)
		d.open(inner, depth+1)
		d.leave()
	})
}

func (d *Decoder) unknownNumbers(raw protoreflect.RawFields, md protoreflect.MessageDescriptor) {
	seen := map[protowire.Number]bool{}
	for len(raw) > 0 {
		number, _, n := protowire.ConsumeField(raw)
		if n < 0 {
			return
		}
		raw = raw[n:]
		if !seen[number] {
			seen[number] = true
			p := d.problem(UnknownField, &tree.Node{}, "%s has no field with the number %d", md.FullName(), number)
			p.Name, p.In = fmt.Sprint(number), md
		}
	}
}

func (d *Decoder) openAny(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	url := m.Get(fields.ByNumber(1)).String()
	if url == "" {
		return
	}
	content := d.content(&tree.Node{Kind: tree.String, Text: url})
	if content == nil {
		return
	}
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(m.Get(fields.ByNumber(2)).Bytes(), content); err != nil {
		d.problem(BadAny, &tree.Node{}, "the bytes are not a %s", TypeName(url))
		return
	}
	d.remember(m.Interface(), content)
	inner := content.ProtoReflect()
	d.open(inner, depth+1)
	d.typedStruct(nil, inner, depth+1)
}

// watch records the watched messages directly below m.
func (d *Decoder) watch(m protoreflect.Message) {
	of, in := watchedFields(m.Descriptor()), fields.In(m)
	for i := range of {
		if fd := &of[i]; in.IsSet(fd) {
			d.Seen = append(d.Seen, Seen{Field: fd.FieldDescriptor, Message: in.Inner(fd), Path: d.path().Field(string(fd.Name()))})
		}
	}
}

// structNode converts a google.protobuf.Struct back to a Node.
func structNode(m protoreflect.Message) *tree.Node {
	n := &tree.Node{Kind: tree.Map}
	entries := m.Get(m.Descriptor().Fields().ByNumber(1)).Map()
	for _, key := range sortedKeys(entries) {
		n.Keys = append(n.Keys, tree.Key{Name: key.String()})
		n.Items = append(n.Items, valueNode(entries.Get(key).Message()))
	}
	return n
}

func valueNode(m protoreflect.Message) tree.Node {
	fd := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	if fd == nil {
		return tree.Node{}
	}
	v := m.Get(fd)
	switch fd.Number() {
	case 2:
		return tree.Node{Kind: tree.Number, Text: fmt.Sprint(v.Float())}
	case 3:
		return tree.Node{Kind: tree.String, Text: v.String()}
	case 4:
		return tree.Node{Kind: tree.Bool, Text: fmt.Sprint(v.Bool())}
	case 5:
		return *structNode(v.Message())
	case 6:
		n := tree.Node{Kind: tree.List}
		list := v.Message().Get(v.Message().Descriptor().Fields().ByNumber(1)).List()
		for i := range list.Len() {
			n.Items = append(n.Items, valueNode(list.Get(i).Message()))
		}
		return n
	}
	return tree.Node{}
}

// EachMessage calls f for every message directly below m, in the order of the fields' declaration and of map keys, with the step to it.
func EachMessage(m protoreflect.Message, f func(protoreflect.Message, tree.Step)) {
	of, in := messageFields(m.Descriptor()), fields.In(m)
	for i := range of {
		fd := &of[i]
		if !in.IsSet(fd) {
			continue
		}
		name := string(fd.Name())
		switch {
		case fd.IsMap():
			entries := m.Get(fd.FieldDescriptor).Map()
			for _, key := range sortedKeys(entries) {
				f(entries.Get(key).Message(), tree.ToEntry(name, key.String()))
			}
		case fd.IsList():
			for i := range in.Len(fd) {
				f(in.Item(fd, i), tree.ToItem(name, i))
			}
		default:
			f(in.Inner(fd), tree.ToField(name))
		}
	}
}

func sortedKeys(m protoreflect.Map) []protoreflect.MapKey {
	keys := make([]protoreflect.MapKey, 0, m.Len())
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	return keys
}
