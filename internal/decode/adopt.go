package decode

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/xdslint/xdslint/internal/fields"
)

// A dynamic message contains only dynamic messages by default. Rules read Go types, so where one is linked in for a
// field of a dynamic message, it is used instead.

// linkedType returns the Go type for a message-valued field of m, or nil if m is a Go type itself or none is linked in.
func linkedType(m protoreflect.Message, md protoreflect.MessageDescriptor) protoreflect.MessageType {
	if _, dynamic := m.Interface().(*dynamicpb.Message); !dynamic || md == nil {
		return nil
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByName(md.FullName())
	if err != nil {
		return nil
	}
	return mt
}

// mutable returns the message in a singular field of m, which it sets if it is absent.
func mutable(m fields.Message, f *planned) fields.Message {
	if !m.IsGo() && !m.Has(f.FieldDescriptor) {
		if mt := linkedType(m.Message, f.Message()); mt != nil {
			m.Set(f.FieldDescriptor, protoreflect.ValueOfMessage(mt.New()))
		}
	}
	return m.Made(&f.Field)
}

// appendTo adds a message to the list in a repeated field of m.
func appendTo(m fields.Message, f *planned) fields.Message {
	if !m.IsGo() {
		if mt := linkedType(m.Message, f.Message()); mt != nil {
			made := mt.New()
			m.Mutable(f.FieldDescriptor).List().Append(protoreflect.ValueOfMessage(made))
			return fields.In(made)
		}
	}
	return m.Add(&f.Field)
}

// newEntry returns a new value for a map field of m.
func newEntry(m protoreflect.Message, fd protoreflect.FieldDescriptor) protoreflect.Value {
	if mt := linkedType(m, fd.MapValue().Message()); mt != nil {
		return protoreflect.ValueOfMessage(mt.New())
	}
	return m.Mutable(fd).Map().NewValue()
}

// adopt replaces the dynamic messages directly below m, from the wire format's reader, by linked ones.
func adopt(m protoreflect.Message) {
	if _, dynamic := m.Interface().(*dynamicpb.Message); !dynamic {
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		holder := fd
		if fd.IsMap() {
			holder = fd.MapValue()
		}
		mt := linkedType(m, holder.Message())
		switch {
		case mt == nil:
		case fd.IsMap():
			v.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
				v.Map().Set(key, converted(value.Message(), mt))
				return true
			})
		case fd.IsList():
			for i := range v.List().Len() {
				v.List().Set(i, converted(v.List().Get(i).Message(), mt))
			}
		default:
			m.Set(fd, converted(v.Message(), mt))
		}
		return true
	})
}

func converted(m protoreflect.Message, mt protoreflect.MessageType) protoreflect.Value {
	made := mt.New()
	raw, err := anyBytes.Marshal(m.Interface())
	if err == nil {
		err = (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(raw, made.Interface())
	}
	if err != nil { // a string that is not UTF-8: then it stays as it was read
		return protoreflect.ValueOfMessage(m)
	}
	return protoreflect.ValueOfMessage(made)
}
