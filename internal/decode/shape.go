package decode

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

var shapes sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// HasOwnJSON reports whether a message is a well-known type that JSON does not write as a map of its fields.
func HasOwnJSON(name protoreflect.FullName) bool { return wellKnown[name] != nil }

// messageFields returns the fields of a message that hold messages to visit. Durations, wrappers and Structs count as
// values of their fields.
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
