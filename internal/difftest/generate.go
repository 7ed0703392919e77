package difftest

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/xdslint/xdslint/internal/constraint"
)

// maxDepth ends recursion between messages: at that depth, a message gets only its required fields.
const maxDepth = 4

// plausible returns content for a field: what the corpus has in the same field elsewhere, or else what its proto requires. It returns nil if there is
// none. holder is the field of the message around it.
func (d *draft) plausible(fd protoreflect.FieldDescriptor, holder string, depth int) *value {
	one := func(fd protoreflect.FieldDescriptor) *value {
		if scalarOf(fd) != nil {
			return d.scalar(fd)
		}
		return d.message(fd.Message(), lastOf(holder)+" "+string(fd.FullName()), depth)
	}
	switch {
	case fd.IsMap():
		m := object()
		if v := one(fd.MapValue()); v != nil {
			m.set(d.mapKey(fd), v)
		}
		return m
	case fd.IsList():
		l := list()
		count := 1 + d.IntN(2) + int(rulesOf(fd).GetRepeated().GetMinItems())
		for range min(count, 3) {
			if v := one(fd); v != nil {
				l.items = append(l.items, v)
			}
		}
		return l
	}
	return one(fd)
}

func (d *draft) mapKey(fd protoreflect.FieldDescriptor) string {
	if keys := d.pool.keys[fd.FullName()]; len(keys) > 0 {
		return choose(d.Rand, keys)
	}
	switch fd.MapKey().Kind() {
	case protoreflect.StringKind:
		return "x"
	case protoreflect.BoolKind:
		return "true"
	}
	return "1"
}

// message returns a message of the type from the corpus, or makes one.
func (d *draft) message(md protoreflect.MessageDescriptor, holder string, depth int) *value {
	if md.FullName() == anyName {
		return d.extension(holder, "")
	}
	if isValue(md) {
		return wellKnown(md)
	}
	if others := d.pool.messages[md.FullName()]; len(others) > 0 && d.IntN(10) < 7 {
		return choose(d.Rand, others).without("@type")
	}
	return d.generate(md, holder, depth)
}

// generate fills the required fields, and at random others.
func (d *draft) generate(md protoreflect.MessageDescriptor, holder string, depth int) *value {
	m := object()
	must := required(md)
	for i := range md.Oneofs().Len() {
		one := md.Oneofs().Get(i)
		if !one.IsSynthetic() && (must[one.Name()] || depth < maxDepth && d.IntN(3) == 0) {
			d.fill(m, one.Fields().Get(d.IntN(one.Fields().Len())), holder, depth)
		}
	}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		one := fd.ContainingOneof()
		if (one == nil || one.IsSynthetic()) && (must[fd.Name()] || depth < maxDepth && d.IntN(6+6*depth) == 0) {
			d.fill(m, fd, holder, depth)
		}
	}
	return m
}

// required names the fields and oneofs without which the proto's constraints reject the message.
func required(md protoreflect.MessageDescriptor) map[protoreflect.Name]bool {
	must := map[protoreflect.Name]bool{}
	constraint.For(md).Check(dynamicpb.NewMessage(md), func(v constraint.Violation) {
		if v.Field != nil {
			must[v.Field.Name()] = true
		} else {
			must[v.Oneof.Name()] = true
		}
	})
	return must
}

func (d *draft) fill(m *value, fd protoreflect.FieldDescriptor, holder string, depth int) {
	if isEnvironment(fd) || depth > 2*maxDepth {
		return
	}
	if v := d.plausible(fd, holder, depth+1); v != nil {
		m.set(string(fd.Name()), v)
	}
}

// scalar returns a value that the corpus has for the same field, or makes one that fits the field's name and limits.
func (d *draft) scalar(fd protoreflect.FieldDescriptor) *value {
	if known := d.pool.scalars[fd.FullName()]; len(known) > 0 && d.IntN(10) < 7 {
		return choose(d.Rand, known).clone()
	}
	if isDuration(fd) {
		return str(choose(d.Rand, []string{"1s", "5s", "0.25s", "60s"}))
	}
	scalar := scalarOf(fd)
	switch scalar.Kind() {
	case protoreflect.BoolKind:
		return boolean(d.IntN(4) > 0)
	case protoreflect.StringKind:
		return str(d.word(fd))
	case protoreflect.BytesKind:
		return str("AAAA")
	case protoreflect.EnumKind:
		values := scalar.Enum().Values()
		return str(string(values.Get(d.IntN(values.Len())).Name()))
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return number(choose(d.Rand, []string{"0.5", "1", "50"}))
	}
	return number(choose(d.Rand, []string{"1", "2", "5", "10", "100", "1024", "8080"}))
}

// word returns a text that fits the name of a field.
func (d *draft) word(fd protoreflect.FieldDescriptor) string {
	name := string(fd.Name())
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case nameGroup(name) == "cluster" && len(d.names["cluster"]) > 0:
		return choose(d.Rand, d.names["cluster"])
	case has("regex"):
		return "[a-z]+/.*"
	case has("path"), has("prefix") && !has("stat") && !has("address"):
		return "/x"
	case has("address"):
		return "10.1.2.3"
	case has("domain"), has("host"), has("authority"):
		return "shop.example.com"
	case has("uri"), has("url"):
		return "http://shop.example.com/x"
	}
	return strings.Repeat("x", max(3, int(rulesOf(fd).GetString_().GetMinLen())))
}

// wellKnown returns a value of a type with a special JSON form.
func wellKnown(md protoreflect.MessageDescriptor) *value {
	switch md.Name() {
	case "Timestamp":
		return str("2030-01-01T00:00:00Z")
	case "ListValue":
		return list(str("x"))
	case "Value":
		return str("x")
	case "FieldMask":
		return str("x")
	case "Struct":
		m := object()
		m.set("x", str("y"))
		return m
	}
	return object()
}
