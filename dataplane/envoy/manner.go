package envoy

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
)

// manners lists the fields that determine how a cluster talks to its endpoints.
var manners = []protoreflect.Name{"transport_socket", "transport_socket_matches", "typed_extension_protocol_options", "http2_protocol_options"}

// MannerOf returns the field by which a change of a cluster alters how it talks to its endpoints, or "".
func MannerOf(change *graph.Change) string {
	fields := fieldsOfBoth(change)
	if fields == nil {
		return ""
	}
	for _, name := range manners {
		if fd := fields.ByName(name); fd != nil && differs(change, fd) {
			return string(name)
		}
	}
	return ""
}

// ChangedFields returns the names of the fields that a push changes, in the order of their declaration.
func ChangedFields(change *graph.Change) (names []string) {
	fields := fieldsOfBoth(change)
	for i := 0; fields != nil && i < fields.Len(); i++ {
		if fd := fields.Get(i); differs(change, fd) {
			names = append(names, string(fd.Name()))
		}
	}
	return names
}

// fieldsOfBoth returns the fields of both messages, or nil if they are not of one type.
func fieldsOfBoth(change *graph.Change) protoreflect.FieldDescriptors {
	if change.Old.Message == nil || change.New.Message == nil {
		return nil
	}
	before, after := change.Old.Message.ProtoReflect().Descriptor(), change.New.Message.ProtoReflect().Descriptor()
	if before != after {
		return nil
	}
	return before.Fields()
}

func differs(change *graph.Change, fd protoreflect.FieldDescriptor) bool {
	before, after := only(change.Old.Message.ProtoReflect(), fd), only(change.New.Message.ProtoReflect(), fd)
	return !proto.Equal(change.Old.CanonicalOf(before), change.New.CanonicalOf(after))
}

// only returns a message with only one of its fields.
func only(m protoreflect.Message, fd protoreflect.FieldDescriptor) proto.Message {
	one := m.New()
	if m.Has(fd) {
		one.Set(fd, m.Get(fd))
	}
	return one.Interface()
}
