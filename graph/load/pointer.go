package load

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode"
)

// spot is the target of a JSON pointer in the JSON of a message: a message, a field, or one value of a field that holds many.
type spot struct {
	message protoreflect.MessageDescriptor // of the value there, if it is a message
	field   protoreflect.FieldDescriptor   // that holds it; nil: the resource itself
	inner   bool                           // it is an element of a list or an entry of a map
	key     string                         // of the entry
	unknown bool                           // inside a Struct, or an Any whose type is not known
}

// pointer follows JSON pointers (RFC 6901) through messages, as Envoy Gateway's jsonpatch does: fields have their proto names.
type pointer struct {
	types  decode.Types
	exists bool // the whole path must exist: for all operations but add
}

// follow follows a pointer from a resource. If nothing can be there, fault says why.
func (p pointer) follow(root protoreflect.MessageDescriptor, text string) (at spot, fault string) {
	at.message = root
	if text == "" {
		return at, ""
	}
	if !strings.HasPrefix(text, "/") {
		return at, "a JSON pointer must begin with a slash"
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for segment := range strings.SplitSeq(text[1:], "/") {
		if at, fault = p.step(at, unescape.Replace(segment)); fault != "" || at.unknown {
			break
		}
	}
	return at, fault
}

func (p pointer) step(at spot, segment string) (spot, string) {
	switch {
	case at.field != nil && at.field.IsList() && !at.inner:
		if _, err := strconv.Atoi(segment); err != nil && (segment != "-" || p.exists) {
			return at, fmt.Sprintf("%s is a list: %q is not an index", at.field.Name(), segment)
		}
		return spot{message: at.field.Message(), field: at.field, inner: true}, ""
	case at.field != nil && at.field.IsMap() && !at.inner:
		return spot{message: at.field.MapValue().Message(), field: at.field, inner: true, key: segment}, ""
	case at.message == nil:
		return at, fmt.Sprintf("%s is a %s: there is no %q in it", at.field.Name(), at.field.Kind(), segment)
	}
	holder := at.message
	switch holder.FullName() {
	case "google.protobuf.Any":
		if holder = p.content(at, segment); holder == nil {
			return spot{unknown: true}, ""
		}
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		return spot{unknown: true}, ""
	}
	if decode.HasOwnJSON(holder.FullName()) {
		return at, fmt.Sprintf("%s is a %s, which is written as one value: there is no %q in it", at.field.Name(), holder.Name(), segment)
	}
	fd := holder.Fields().ByName(protoreflect.Name(segment))
	if fd == nil {
		if fd = holder.Fields().ByJSONName(segment); fd != nil && p.exists {
			return at, fmt.Sprintf("Envoy Gateway uses the protos' field names: write %[2]q, not %[1]q", segment, fd.Name())
		}
	}
	if fd == nil {
		return at, fmt.Sprintf("%s has no field %q", holder.FullName(), segment)
	}
	next := spot{field: fd}
	if !fd.IsList() && !fd.IsMap() {
		next.message = fd.Message()
	}
	return next, ""
}

// managers are the fields that can hold an HTTP connection manager.
var managers = map[protoreflect.FullName]bool{"envoy.config.listener.v3.Filter.typed_config": true}

// content returns the type of an Any's content where it follows from the context: the segment is a field of a
// connection manager, or the key of the entry is the type.
func (p pointer) content(any spot, segment string) protoreflect.MessageDescriptor {
	name := protoreflect.FullName("")
	switch {
	case managers[any.field.FullName()]:
		name = managerPackage + "HttpConnectionManager"
	case any.field.FullName() == "envoy.config.cluster.v3.Cluster.typed_extension_protocol_options":
		name = protoreflect.FullName(any.key)
	}
	mt, err := p.types.FindMessageByName(name)
	if name == "" || err != nil {
		return nil
	}
	md := mt.Descriptor()
	if md.Fields().ByName(protoreflect.Name(segment)) == nil {
		return nil
	}
	return md
}
