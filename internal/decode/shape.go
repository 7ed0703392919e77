package decode

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
)

// HasOwnJSON reports whether a message is a well-known type that JSON does not write as a map of its fields.
func HasOwnJSON(name protoreflect.FullName) bool { return wellKnown[name] != nil }

// messageFields are the fields of a message that hold messages to visit. Durations, wrappers and Structs count as values
// of their fields.
var messageFields = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	if fd.IsMap() {
		fd = fd.MapValue()
	}
	inner := fd.Message()
	return inner != nil && (wellKnown[inner.FullName()] == nil || inner.FullName() == "google.protobuf.Any")
})

// watchedFields are the fields that hold a watched message.
var watchedFields = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && watched[fd.Message().FullName()] && !fd.IsList()
})
