// Package dynamic reads fields of messages whose Go types are not linked in, by their names. A field that the message
// type does not have counts as not set: a compiler cannot check the names.
package dynamic

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Value reads a field of a message whose Go type is not linked in; ok is false if it is not set.
func Value(m proto.Message, field protoreflect.Name) (v protoreflect.Value, ok bool) {
	if m == nil {
		return v, false
	}
	fd := m.ProtoReflect().Descriptor().Fields().ByName(field)
	if fd == nil || !m.ProtoReflect().Has(fd) {
		return v, false
	}
	return m.ProtoReflect().Get(fd), true
}

// Items reads a repeated field.
func Items(m proto.Message, field protoreflect.Name) (all []protoreflect.Value) {
	list, ok := Value(m, field)
	if !ok {
		return nil
	}
	for i := range list.List().Len() {
		all = append(all, list.List().Get(i))
	}
	return all
}

// Sub reads a field that is a message, nil if it is not set.
func Sub(m proto.Message, field protoreflect.Name) proto.Message {
	v, ok := Value(m, field)
	if !ok {
		return nil
	}
	return v.Message().Interface()
}

// TypeName is the full name of a message's type, empty for nil.
func TypeName(m proto.Message) protoreflect.FullName {
	if m == nil {
		return ""
	}
	return m.ProtoReflect().Descriptor().FullName()
}
