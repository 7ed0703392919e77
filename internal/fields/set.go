package fields

import (
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// IsGo reports whether the message is a Go struct, of generated code.
func (m Message) IsGo() bool { return m.start != nil }

// Taken reports whether a member of the oneof is set that a field is in.
func (m Message) Taken(f *Field) bool {
	if m.start != nil && f.kept == oneof {
		return *(*unsafe.Pointer)(unsafe.Add(m.start, f.offset)) != nil
	}
	return m.WhichOneof(f.ContainingOneof()) != nil
}

// Put sets a field that is neither repeated nor holds a message.
func (m Message) Put(f *Field, v protoreflect.Value) {
	if m.start != nil {
		at := unsafe.Add(m.start, f.offset)
		switch f.kept {
		case text, byte1, bytes4, bytes8:
			put(at, f.Kind(), v)
			return
		case oneof:
			if wrapper := reflect.New(f.wrapper).UnsafePointer(); put(wrapper, f.Kind(), v) {
				f.hold(at, wrapper)
				return
			}
		}
	}
	m.Set(f.FieldDescriptor, v)
}

// hold puts the wrapper of a oneof's member into the interface at a place.
func (f *place) hold(at, wrapper unsafe.Pointer) {
	*(*[2]unsafe.Pointer)(at) = [2]unsafe.Pointer{f.member, wrapper}
}

// put puts a value where Go keeps one of its kind. It reports whether it knows how.
func put(at unsafe.Pointer, kind protoreflect.Kind, v protoreflect.Value) bool {
	switch kind {
	case protoreflect.StringKind:
		*(*string)(at) = v.String()
	case protoreflect.BoolKind:
		*(*bool)(at) = v.Bool()
	case protoreflect.EnumKind:
		*(*protoreflect.EnumNumber)(at) = v.Enum()
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		*(*int32)(at) = int32(v.Int())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		*(*uint32)(at) = uint32(v.Uint())
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		*(*int64)(at) = v.Int()
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		*(*uint64)(at) = v.Uint()
	case protoreflect.FloatKind:
		*(*float32)(at) = float32(v.Float())
	case protoreflect.DoubleKind:
		*(*float64)(at) = v.Float()
	default:
		return false
	}
	return true
}

// Made returns the message in a field that is not repeated. It sets the field if it is not set.
func (m Message) Made(f *Field) Message {
	if m.start != nil && f.inner != nil {
		at := unsafe.Add(m.start, f.offset)
		switch f.kept {
		case pointer:
			into := (*unsafe.Pointer)(at)
			if *into == nil {
				*into = f.make()
			}
			return f.in(*into)
		case oneof:
			if wrapper := (*[2]unsafe.Pointer)(at); wrapper[0] != f.member || wrapper[1] == nil || *(*unsafe.Pointer)(wrapper[1]) == nil {
				made := reflect.New(f.wrapper).UnsafePointer()
				*(*unsafe.Pointer)(made) = f.make()
				f.hold(at, made)
			}
			return f.in(*(*unsafe.Pointer)((*[2]unsafe.Pointer)(at)[1]))
		}
	}
	return In(m.Mutable(f.FieldDescriptor).Message())
}

// Add adds a message to a repeated field, and returns it.
func (m Message) Add(f *Field) Message {
	if m.start != nil && f.kept == pointers && f.inner != nil {
		list, made := (*[]unsafe.Pointer)(unsafe.Add(m.start, f.offset)), f.make()
		*list = append(*list, made)
		return f.in(made)
	}
	return In(m.Mutable(f.FieldDescriptor).List().AppendMutable().Message())
}

// Append adds a scalar to a repeated field.
func (m Message) Append(f *Field, v protoreflect.Value) {
	if m.start != nil && f.kept == list && f.Kind() == protoreflect.StringKind {
		texts := (*[]string)(unsafe.Add(m.start, f.offset))
		*texts = append(*texts, v.String())
		return
	}
	m.Mutable(f.FieldDescriptor).List().Append(v)
}

// make returns a new message for a field.
func (f *place) make() unsafe.Pointer {
	return reflect.New(f.inner.GoReflectType.Elem()).UnsafePointer()
}

// in returns the message at a place.
func (f *place) in(at unsafe.Pointer) Message { return Message{f.message(at), at} }
