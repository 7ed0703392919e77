package edits

import (
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
)

// values gives a field that is set another value.
func (l *lister) values(p *graph.Place, at graph.At, fd protoreflect.FieldDescriptor) {
	value := p.Message.Get(fd)
	switch held := innerOf(fd); {
	case fd.Message() == nil:
		l.scalar(p, at, fd, fd, value, func(v protoreflect.Value) protoreflect.Value { return v })
	case held != nil:
		l.scalar(p, at, fd, held, value.Message().Get(held), func(v protoreflect.Value) protoreflect.Value {
			made := p.Message.NewField(fd)
			made.Message().Set(held, v)
			return made
		})
	default:
		if d, ok := value.Message().Interface().(*durationpb.Duration); ok && d.IsValid() && d.AsDuration() != 0 {
			twice := durationpb.New(2 * d.AsDuration())
			l.add(p, at, fd, protoreflect.ValueOfMessage(twice.ProtoReflect()), "is "+twice.AsDuration().String())
		}
	}
}

// innerOf returns the field of a wrapper, such as google.protobuf.UInt32Value, that holds its value; nil for all else.
func innerOf(fd protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	md := fd.Message()
	if md == nil || md.FullName().Parent() != "google.protobuf" || md.Fields().Len() != 1 || md.Fields().Get(0).Name() != "value" {
		return nil
	}
	return md.Fields().Get(0)
}

// scalar gives a field, or the wrapper that it is, another value.
func (l *lister) scalar(p *graph.Place, at graph.At, fd, kind protoreflect.FieldDescriptor, v protoreflect.Value, wrap func(protoreflect.Value) protoreflect.Value) {
	switch kind.Kind() {
	case protoreflect.BoolKind:
		l.add(p, at, fd, wrap(protoreflect.ValueOfBool(!v.Bool())), "is "+strconv.FormatBool(!v.Bool()))
	case protoreflect.EnumKind:
		next := after(kind.Enum().Values(), v.Enum())
		l.add(p, at, fd, wrap(protoreflect.ValueOfEnum(next.Number())), "is "+string(next.Name()))
	case protoreflect.Uint32Kind:
		l.add(p, at, fd, wrap(protoreflect.ValueOfUint32(uint32(v.Uint())+1)), fmt.Sprintf("is %d", uint32(v.Uint())+1))
	case protoreflect.Uint64Kind:
		l.add(p, at, fd, wrap(protoreflect.ValueOfUint64(v.Uint()+1)), fmt.Sprintf("is %d", v.Uint()+1))
	case protoreflect.Int32Kind:
		l.add(p, at, fd, wrap(protoreflect.ValueOfInt32(int32(v.Int())+1)), fmt.Sprintf("is %d", int32(v.Int())+1))
	case protoreflect.Int64Kind:
		l.add(p, at, fd, wrap(protoreflect.ValueOfInt64(v.Int()+1)), fmt.Sprintf("is %d", v.Int()+1))
	case protoreflect.DoubleKind:
		l.add(p, at, fd, wrap(protoreflect.ValueOfFloat64(v.Float()/2)), fmt.Sprintf("is %g", v.Float()/2))
	case protoreflect.StringKind:
		l.text(p, at, fd, v.String(), wrap)
	}
}

// after returns the value that is declared after another one, or the first one.
func after(all protoreflect.EnumValueDescriptors, n protoreflect.EnumNumber) protoreflect.EnumValueDescriptor {
	i := -1
	if known := all.ByNumber(n); known != nil {
		i = known.Index()
	}
	return all.Get((i + 1) % all.Len())
}

// text exchanges a name for another one of its kind, and makes all other texts longer. What the text is, is not shown: it can be a secret.
func (l *lister) text(p *graph.Place, at graph.At, fd protoreflect.FieldDescriptor, text string, wrap func(protoreflect.Value) protoreflect.Value) {
	if e := l.references[at.Path().String()]; e != nil {
		if other := l.other(e.Kind, text); other != "" {
			l.add(p, at, fd, wrap(protoreflect.ValueOfString(other)), fmt.Sprintf("is %q", other))
		}
		return
	}
	if l.routes && at.Path().String() != p.Resource.AtName().Path().String() {
		l.add(p, at, fd, wrap(protoreflect.ValueOfString(text+"x")), `has an "x" at its end`)
	}
}

// other returns the name after this one among those of a kind; empty if there is no other.
func (l *lister) other(kind graph.Kind, name string) string {
	names := l.snapshot.Names(kind)
	i := slices.Index(names, name)
	if len(names) == 0 || len(names) == 1 && i == 0 {
		return ""
	}
	return names[(i+1)%len(names)]
}
