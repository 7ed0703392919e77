package house

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"
	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// message is a message in CEL.
type message struct {
	types *typeSystem
	m     proto.Message
}

// ConvertToNative implements ref.Val.
func (m message) ConvertToNative(to reflect.Type) (any, error) {
	if reflect.TypeOf(m.m).AssignableTo(to) {
		return m.m, nil
	}
	return nil, fmt.Errorf("a %s is no %s", m.name(), to)
}

// ConvertToType implements ref.Val.
func (m message) ConvertToType(to ref.Type) ref.Val {
	switch {
	case to == celtypes.TypeType:
		return cel.ObjectType(m.name())
	case to.TypeName() == m.name():
		return m
	}
	return celtypes.NewErr("a %s is no %s", m.name(), to.TypeName())
}

// Equal implements ref.Val.
func (m message) Equal(other ref.Val) ref.Val {
	o, ok := other.(message)
	return celtypes.Bool(ok && proto.Equal(m.m, o.m))
}

// Type implements ref.Val.
func (m message) Type() ref.Type { return cel.ObjectType(m.name()) }

// Value implements ref.Val.
func (m message) Value() any { return m.m }

func (m message) name() string { return string(m.m.ProtoReflect().Descriptor().FullName()) }

// Get implements traits.Indexer.
func (m message) Get(field ref.Val) ref.Val {
	name, ok := field.(celtypes.String)
	if !ok {
		return celtypes.MaybeNoSuchOverloadErr(field)
	}
	found, err := m.types.get(m.m, string(name))
	if err != nil {
		return celtypes.WrapErr(err)
	}
	return m.types.NativeToValue(found)
}

// IsSet implements traits.FieldTester. A field that the type does not have is not set: what an Any holds is known only when it is looked at.
func (m message) IsSet(field ref.Val) ref.Val {
	name, ok := field.(celtypes.String)
	return celtypes.Bool(ok && has(m.m, string(name)))
}

// IsZeroValue implements traits.Zeroer.
func (m message) IsZeroValue() bool { return proto.Size(m.m) == 0 }

func has(target any, field string) bool {
	m, fd := fieldIn(target, field)
	return fd != nil && m.Has(fd)
}

// get reads a field. A message that is not there is empty, as CEL wants it; of a wrapper, null.
func (t *typeSystem) get(target any, field string) (any, error) {
	m, fd := fieldIn(target, field)
	switch {
	case m == nil:
		return nil, fmt.Errorf("no such field: %s", field)
	case fd == nil:
		return nil, fmt.Errorf("%s", noField(string(m.Descriptor().FullName()), field, fieldNames(m.Descriptor())))
	}
	return t.value(fd, m.Get(fd)), nil
}

func fieldIn(target any, field string) (protoreflect.Message, protoreflect.FieldDescriptor) {
	m, ok := target.(proto.Message)
	if !ok {
		return nil, nil
	}
	reflected := m.ProtoReflect()
	return reflected, reflected.Descriptor().Fields().ByName(protoreflect.Name(field))
}

// value is that of a field, as NativeToValue takes it.
func (t *typeSystem) value(fd protoreflect.FieldDescriptor, v protoreflect.Value) any {
	if fd.IsMap() {
		return mapField{fd, v.Map()}
	}
	if found, ok := v.Interface().(protoreflect.Message); ok && !fd.IsList() {
		if !found.IsValid() && isWrapper(found.Descriptor()) {
			return celtypes.NullValue
		}
		return t.messageValue(found.Interface())
	}
	return v.Interface()
}

func isWrapper(md protoreflect.MessageDescriptor) bool {
	return ownForm(md.FullName()) && md.Fields().Len() == 1 && md.Fields().Get(0).Name() == "value"
}

// mapField is the value of a map field.
type mapField struct {
	fd protoreflect.FieldDescriptor
	m  protoreflect.Map
}

func (t *typeSystem) mapValue(f mapField) ref.Val {
	entries := make(map[ref.Val]ref.Val, f.m.Len())
	keys := make([]ref.Val, 0, f.m.Len())
	f.m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		key := t.NativeToValue(k.Interface())
		keys = append(keys, key)
		entries[key] = t.NativeToValue(v.Interface())
		return true
	})
	slices.SortFunc(keys, func(a, b ref.Val) int { return cmp.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value())) })
	return sortedMap{celtypes.NewRefValMap(t, entries), celtypes.NewRefValList(t, keys)}
}

// sortedMap is gone through in the order of its keys: what is found must not depend on Go's.
type sortedMap struct {
	traits.Mapper
	keys traits.Lister
}

// Iterator implements traits.Iterable.
func (m sortedMap) Iterator() traits.Iterator { return m.keys.Iterator() }
