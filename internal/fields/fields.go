// Package fields reads and sets the fields of generated messages at the place where Go keeps them. To find out that a field
// is not set takes protobuf's reflection some 60 ns, a walk over all messages asks that for every field, and most are not
// set. Setting one takes some 100 ns. The reflection also makes tables for each type that it is used with, from the
// descriptors of all types that a message can hold: of a small file, that takes most of the time.
//
// Where the package does not know the place, it asks the reflection: for messages without a Go type, for maps, for bytes,
// and for scalars with a pointer.
//
// TestFields compares it with the reflection on all message types that are linked in.
package fields

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/runtime/protoimpl"
	"google.golang.org/protobuf/types/known/anypb"
)

// Field is a field of a message type.
type Field struct {
	protoreflect.FieldDescriptor
	place
}

// place is where Go keeps a field.
type place struct {
	kept    kept
	offset  uintptr                // in the Go struct
	member  unsafe.Pointer         // of a oneof: the first word of the interface that holds this member
	wrapper reflect.Type           // of a oneof: the struct around this member
	inner   *protoimpl.MessageInfo // of the messages in it
}

// kept is how Go keeps a field.
type kept uint8

const (
	unknown kept = iota
	pointer      // to a message
	list
	pointers // a list of messages
	text     // a string that is set if it is not empty
	byte1    // a bool; it and the next two are set if they are not 0
	bytes4   // a number or an enum
	bytes8   // a number
	mapping
	oneof
)

// Message is a message whose fields are read.
type Message struct {
	protoreflect.Message
	start unsafe.Pointer // of its Go struct; nil: it has none
}

// generated is the type of ProtoReflect's result for generated messages, which points to their Go struct.
var generated = reflect.TypeOf(new(anypb.Any).ProtoReflect())

// state is the type of the first field in the Go struct of such a message.
var state = reflect.TypeOf(protoimpl.MessageState{})

// In returns a message whose fields are read.
func In(m protoreflect.Message) Message {
	if v := reflect.ValueOf(m); v.Type() == generated {
		return Message{m, v.UnsafePointer()}
	}
	return Message{Message: m}
}

// IsSet reports whether a field is set.
func (m Message) IsSet(f *Field) bool {
	if m.start != nil {
		at := unsafe.Add(m.start, f.offset)
		switch f.kept {
		case pointer:
			return *(*unsafe.Pointer)(at) != nil
		case list, pointers:
			return len(*(*[]struct{})(at)) > 0
		case text:
			return *(*string)(at) != ""
		case byte1:
			return *(*bool)(at)
		case bytes4:
			return *(*uint32)(at) != 0
		case bytes8:
			return *(*uint64)(at) != 0
		case oneof:
			wrapper := (*[2]unsafe.Pointer)(at)
			return wrapper[0] == f.member && wrapper[1] != nil
		case mapping:
			if *(*unsafe.Pointer)(at) == nil {
				return false
			}
		}
	}
	return m.Has(f.FieldDescriptor)
}

// Value is the reflection's Get.
func (m Message) Value(f *Field) protoreflect.Value {
	if f.inner != nil && f.kept != pointers {
		return protoreflect.ValueOfMessage(m.Inner(f))
	}
	if m.start != nil {
		at := unsafe.Add(m.start, f.offset)
		switch f.kept {
		case text, byte1, bytes4, bytes8:
			return get(at, f.Kind())
		}
	}
	return m.Get(f.FieldDescriptor)
}

// get returns the value of a kind that Go keeps at a place: what kept says is a scalar.
func get(at unsafe.Pointer, kind protoreflect.Kind) protoreflect.Value {
	switch kind {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(*(*string)(at))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(*(*bool)(at))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(*(*protoreflect.EnumNumber)(at))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(*(*int32)(at))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(*(*uint32)(at))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(*(*int64)(at))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(*(*uint64)(at))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(*(*float32)(at))
	default:
		return protoreflect.ValueOfFloat64(*(*float64)(at))
	}
}

// Inner returns the message in a field that is set and not repeated.
func (m Message) Inner(f *Field) protoreflect.Message {
	if m.start != nil && f.inner != nil {
		at := unsafe.Add(m.start, f.offset)
		switch f.kept {
		case pointer:
			if inner := *(*unsafe.Pointer)(at); inner != nil {
				return f.message(inner)
			}
		case oneof:
			if wrapper := (*[2]unsafe.Pointer)(at); wrapper[0] == f.member && wrapper[1] != nil {
				if inner := *(*unsafe.Pointer)(wrapper[1]); inner != nil {
					return f.message(inner)
				}
			}
		}
	}
	return m.Get(f.FieldDescriptor).Message()
}

// Enum returns the value of a field that is not repeated.
func (m Message) Enum(f *Field) protoreflect.EnumNumber {
	if m.start != nil && f.kept == bytes4 {
		return protoreflect.EnumNumber(*(*int32)(unsafe.Add(m.start, f.offset)))
	}
	return m.Get(f.FieldDescriptor).Enum()
}

// Len returns the number of elements of a repeated field.
func (m Message) Len(f *Field) int {
	if m.start != nil && (f.kept == list || f.kept == pointers) {
		return len(*(*[]struct{})(unsafe.Add(m.start, f.offset)))
	}
	return m.Get(f.FieldDescriptor).List().Len()
}

// Item returns an element of a repeated field of messages.
func (m Message) Item(f *Field, i int) protoreflect.Message {
	if m.start != nil && f.kept == pointers && f.inner != nil {
		if inner := (*(*[]unsafe.Pointer)(unsafe.Add(m.start, f.offset)))[i]; inner != nil {
			return f.message(inner)
		}
	}
	return m.Get(f.FieldDescriptor).List().Get(i).Message()
}

// message does what ProtoReflect does in generated code.
func (f *place) message(at unsafe.Pointer) protoreflect.Message {
	state := protoimpl.X.MessageStateOf(protoimpl.Pointer(at))
	if state.LoadMessageInfo() == nil {
		state.StoreMessageInfo(f.inner)
	}
	return state
}

// Of returns a function that finds fields of a message type, and keeps the result. It is safe for concurrent use.
func Of(wanted func(protoreflect.FieldDescriptor) bool) func(protoreflect.MessageDescriptor) []Field {
	var found sync.Map // protoreflect.MessageDescriptor → []Field
	return func(md protoreflect.MessageDescriptor) []Field {
		if known, ok := found.Load(md); ok {
			return known.([]Field)
		}
		known, _ := found.LoadOrStore(md, find(md.Fields(), wanted))
		return known.([]Field)
	}
}

func find(of fieldsOf, wanted func(protoreflect.FieldDescriptor) bool) []Field {
	all := []Field{}
	for i := range of.Len() {
		if fd := of.Get(i); wanted(fd) {
			all = append(all, One(fd))
		}
	}
	return all
}

// fieldsOf are the fields of a message type or of a oneof.
type fieldsOf interface {
	Len() int
	Get(i int) protoreflect.FieldDescriptor
}

// Members returns the fields of a oneof.
func Members(od protoreflect.OneofDescriptor) []Field {
	return find(od.Fields(), func(protoreflect.FieldDescriptor) bool { return true })
}

// One returns a field.
func One(fd protoreflect.FieldDescriptor) Field {
	md := fd.ContainingMessage()
	known, ok := places.Load(md)
	if !ok {
		known, _ = places.LoadOrStore(md, placesIn(md))
	}
	return Field{fd, known.([]place)[fd.Index()]}
}

var places sync.Map // protoreflect.MessageDescriptor → []place, by the index of the field

// placesIn returns where the Go struct for a message keeps its fields.
func placesIn(md protoreflect.MessageDescriptor) []place {
	places := make([]place, md.Fields().Len())
	mt, err := protoregistry.GlobalTypes.FindMessageByName(md.FullName())
	if err != nil || mt.Descriptor() != md {
		return places
	}
	info := infoOf(reflect.TypeOf(mt.Zero().Interface()))
	if info == nil {
		return places
	}
	layout := info.GoReflectType.Elem()
	for i := range layout.NumField() {
		field := layout.Field(i)
		if number, ok := numberOf(field); ok {
			fd := md.Fields().ByNumber(number)
			places[fd.Index()] = place{kept: howKept(field, fd), offset: field.Offset, inner: infoOf(field.Type)}
		} else if _, ok := field.Tag.Lookup("protobuf_oneof"); ok && field.IsExported() {
			for _, wrapper := range info.OneofWrappers {
				if number, member := memberIn(field, reflect.TypeOf(wrapper)); member.kept == oneof {
					places[md.Fields().ByNumber(number).Index()] = member
				}
			}
		}
	}
	return places
}

// numberOf reads the number of a field from the tag in generated code: `protobuf:"bytes,3,opt,name=…"`.
func numberOf(field reflect.StructField) (protoreflect.FieldNumber, bool) {
	_, rest, _ := strings.Cut(field.Tag.Get("protobuf"), ",")
	text, _, _ := strings.Cut(rest, ",")
	number, err := strconv.Atoi(text)
	return protoreflect.FieldNumber(number), err == nil && field.IsExported()
}

func howKept(field reflect.StructField, fd protoreflect.FieldDescriptor) kept {
	switch t := field.Type; {
	case fd.IsMap():
		return mapping
	case fd.IsList() && fd.Message() != nil && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Pointer:
		return pointers
	case fd.IsList() && t.Kind() == reflect.Slice:
		return list
	case fd.Message() != nil && t.Kind() == reflect.Pointer:
		return pointer
	case !fd.HasPresence():
		return scalar(t)
	}
	return unknown
}

// scalar returns how Go keeps a value of a type that is not a message.
func scalar(t reflect.Type) kept {
	switch t.Kind() {
	case reflect.String:
		return text
	case reflect.Bool:
		return byte1
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return bytes4
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return bytes8
	}
	return unknown
}

// memberIn returns the member of a oneof that a wrapper holds, if it is one of this oneof. Go keeps an interface as two words: one
// for each pair of types, and a pointer to the wrapper.
func memberIn(holder reflect.StructField, wrapper reflect.Type) (protoreflect.FieldNumber, place) {
	if !wrapper.Implements(holder.Type) {
		return 0, place{}
	}
	field := wrapper.Elem().Field(0)
	number, ok := numberOf(field)
	if !ok {
		return 0, place{}
	}
	held := reflect.New(holder.Type)
	held.Elem().Set(reflect.New(wrapper.Elem()))
	return number, place{
		kept: oneof, offset: holder.Offset, inner: infoOf(field.Type),
		member: *(*unsafe.Pointer)(held.UnsafePointer()), wrapper: wrapper.Elem(),
	}
}

// infoOf returns the type of the messages that a Go type holds, or nil if it holds none.
func infoOf(t reflect.Type) *protoimpl.MessageInfo {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Pointer {
		return nil
	}
	m, ok := reflect.Zero(t).Interface().(proto.Message)
	if !ok || t.Elem().Field(0).Type != state {
		return nil
	}
	info, _ := m.ProtoReflect().Type().(*protoimpl.MessageInfo)
	return info
}
