package decode

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

var shapes sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// HasOwnJSON tells the well-known types, which JSON does not write as a map of their fields.
func HasOwnJSON(name protoreflect.FullName) bool { return wellKnown[name] != nil }

// messageFields lists the fields of a message that hold messages worth a visit. Durations, wrappers and Structs are
// values: the field that holds them says all about them.
func messageFields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := shapes.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		value := fd
		if fd.IsMap() {
			value = fd.MapValue()
		}
		if inner := value.Message(); inner != nil && (wellKnown[inner.FullName()] == nil || inner.FullName() == "google.protobuf.Any") {
			fields = append(fields, fd)
		}
	}
	shapes.Store(md, fields)
	return fields
}
