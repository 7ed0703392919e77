package grpctest

import (
	"math/rand/v2"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// Mutate changes one thing in a message, at some depth: it removes or sets a field, or repeats or removes an element of a list. Anys that are
// linked in are opened.
func Mutate(r *rand.Rand, m proto.Message) {
	if any, ok := m.(*anypb.Any); ok {
		mutateAny(r, any)
		return
	}
	mutate(r, m.ProtoReflect())
}

func mutateAny(r *rand.Rand, any *anypb.Any) {
	inner, err := any.UnmarshalNew()
	if err != nil {
		return
	}
	Mutate(r, inner)
	if packed, err := anypb.New(inner); err == nil {
		any.Value = packed.Value
	}
}

func mutate(r *rand.Rand, m protoreflect.Message) {
	var inner []func()
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				if fd.MapValue().Message() != nil {
					inner = append(inner, func() { Mutate(r, v.Message().Interface()) })
				}
				return true
			})
		case fd.IsList():
			for i := range v.List().Len() {
				if fd.Message() != nil {
					inner = append(inner, func() { Mutate(r, v.List().Get(i).Message().Interface()) })
				}
			}
		case fd.Message() != nil:
			inner = append(inner, func() { Mutate(r, v.Message().Interface()) })
		}
		return true
	})
	if len(inner) > 0 && r.IntN(5) > 0 {
		inner[r.IntN(len(inner))]()
		return
	}
	fields := m.Descriptor().Fields()
	if fields.Len() == 0 {
		return
	}
	fd := fields.Get(r.IntN(fields.Len()))
	if has := given(m); len(has) > 0 && r.IntN(2) > 0 {
		fd = has[r.IntN(len(has))]
	}
	change(r, m, fd)
}

// given returns the fields that are set, in the order of the type.
func given(m protoreflect.Message) (all []protoreflect.FieldDescriptor) {
	for i := range m.Descriptor().Fields().Len() {
		if fd := m.Descriptor().Fields().Get(i); m.Has(fd) {
			all = append(all, fd)
		}
	}
	return all
}

func change(r *rand.Rand, m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	switch {
	case m.Has(fd) && r.IntN(3) == 0:
		m.Clear(fd)
	case fd.IsMap():
	case fd.IsList():
		list := m.Mutable(fd).List()
		switch n := list.Len(); {
		case n > 0 && r.IntN(2) == 0:
			list.Append(copied(fd, list.Get(r.IntN(n))))
		case n > 0:
			list.Truncate(n - 1)
		case fd.Message() != nil:
			list.Append(list.NewElement())
		default:
			list.Append(scalar(r, fd))
		}
	case fd.Message() != nil:
		m.Mutable(fd)
		if r.IntN(2) == 0 {
			Mutate(r, m.Get(fd).Message().Interface())
		}
	default:
		m.Set(fd, scalar(r, fd))
	}
}

func copied(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	if fd.Message() == nil {
		return v
	}
	return protoreflect.ValueOfMessage(proto.Clone(v.Message().Interface()).ProtoReflect())
}

func scalar(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	number := []int64{0, 1, 2, 15, 64, 100, 101, 8388608, 8388609, -1}[r.IntN(10)]
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.IntN(fd.Enum().Values().Len() + 1)))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "a", "/", "/shop.Orders/Get", "*", "[", "10.0.0.1", "unavailable", "grpc-x", "envoy.transport_sockets.tls"}[r.IntN(10)])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(nil)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(number)) //nolint:gosec // -1 stands for the largest
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(number)) //nolint:gosec // the same
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(number)) //nolint:gosec // small
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(number))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(number))
	}
	return protoreflect.ValueOfInt64(number)
}
