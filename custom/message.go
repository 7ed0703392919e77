package custom

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode"
)

// message is a message in CEL.
type message struct {
	contained
	types *typeSystem
}

// contained is a message of a resource, with the contents of the resource's Anys. To decode an Any each time an expression reads it would take several
// times as long.
type contained struct {
	m        proto.Message
	contents decode.Contents
}

// ConvertToNative implements ref.Val.
func (m message) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeOf(m.m).AssignableTo(to) {
		return m.m, nil
	}
	return nil, fmt.Errorf("a %s is not a %s", m.name(), to)
}

// ConvertToType implements ref.Val.
func (m message) ConvertToType(to ref.Type) ref.Val {
	switch {
	case to == celtypes.TypeType:
		return cel.ObjectType(m.name())
	case to.TypeName() == m.name():
		return m
	}
	return celtypes.NewErr("a %s is not a %s", m.name(), to.TypeName())
}

// Equal implements ref.Val.
func (m message) Equal(other ref.Val) ref.Val {
	o, ok := other.(message)
	return celtypes.Bool(ok && proto.Equal(m.m, o.m))
}

// Type implements ref.Val.
func (m message) Type() ref.Type { return cel.ObjectType(m.name()) }

// Value implements ref.Val.
func (m message) Value() any { return m.contained }

func (m message) name() string { return string(m.m.ProtoReflect().Descriptor().FullName()) }

// Get implements traits.Indexer.
func (m message) Get(field ref.Val) ref.Val {
	name, ok := field.(celtypes.String)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(field)
	}
	found, err := m.types.get(m.contained, string(name))
	if err != nil {
		return celtypes.WrapErr(err)
	}
	return m.types.NativeToValue(found)
}

// IsSet implements traits.FieldTester. A field that the type does not have is not set: the type of an Any's content is not known before.
func (m message) IsSet(field ref.Val) ref.Val {
	name, ok := field.(celtypes.String)
	return celtypes.Bool(ok && has(m.contained, string(name)))
}

// IsZeroValue implements traits.Zeroer.
func (m message) IsZeroValue() bool { return proto.Size(m.m) == 0 }

func has(target any, field string) bool {
	in, fd := fieldIn(target, field)
	return fd != nil && in.m.ProtoReflect().Has(fd)
}

// get returns the value of a field. As CEL requires, a message that is not set is empty, and a wrapper that is not set is null.
func (t *typeSystem) get(target any, field string) (any, error) {
	in, fd := fieldIn(target, field)
	switch {
	case in.m == nil:
		return nil, fmt.Errorf("no such field: %s", field)
	case fd == nil:
		md := in.m.ProtoReflect().Descriptor()
		return nil, fmt.Errorf("%s", noField(string(md.FullName()), field, fieldNames(md)))
	}
	return t.value(fd, in.m.ProtoReflect().Get(fd), in.contents), nil
}

func fieldIn(target any, field string) (contained, protoreflect.FieldDescriptor) {
	in, ok := target.(contained)
	if !ok {
		return contained{}, nil
	}
	return in, in.m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(field))
}

// value returns the value of a field in the form that NativeToValue expects.
func (t *typeSystem) value(fd protoreflect.FieldDescriptor, v protoreflect.Value, contents decode.Contents) any {
	switch {
	case fd.IsMap():
		return fieldMap{v.Map(), within{t, contents}}
	case fd.IsList():
		return celtypes.NewProtoList(within{t, contents}, v.List())
	case fd.Message() == nil:
		return v.Interface()
	}
	found := v.Message()
	if !found.IsValid() && isWrapper(found.Descriptor()) {
		return celtypes.NullValue
	}
	return t.messageValue(contained{found.Interface(), contents})
}

// within converts the elements of a list or a map in a resource.
type within struct {
	*typeSystem
	contents decode.Contents
}

// NativeToValue implements celtypes.Adapter.
func (w within) NativeToValue(v any) ref.Val {
	if m, ok := v.(protoreflect.Message); ok {
		return w.messageValue(contained{m.Interface(), w.contents})
	}
	return w.typeSystem.NativeToValue(v)
}

func isWrapper(md protoreflect.MessageDescriptor) bool {
	return ownForm(md.FullName()) && md.Fields().Len() == 1 && md.Fields().Get(0).Name() == "value"
}
