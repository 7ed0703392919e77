package check

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

// UnderUnknownKey reports whether the value of a field that a message lacks was given under a key that the message does
// not have: a similar one, one whose value has that field, or one that belongs into the field. Then the unknown key is
// the mistake. It is only where Envoy rejects unknown keys; over xDS it drops them, and rejects what is missing.
func UnderUnknownKey(r *graph.Resource, message *graph.Path, field protoreflect.Name) bool {
	path := message.String()
	return r.Delivery == graph.FromBootstrap && slices.ContainsFunc(r.Problems, func(p graph.Problem) bool {
		if p.Kind != graph.UnknownField || p.Node == nil || p.Path.Parent().String() != path {
			return false
		}
		return p.Node.Field(string(field)) != nil || p.In != nil && (lint.Nearest(p.Name, FieldNames(p.In)) == string(field) || Holder(p) == field)
	})
}

// Holder returns the first field of the message around an unknown field that could hold it, one level down, or "".
func Holder(p graph.Problem) protoreflect.Name {
	for i := range p.In.Fields().Len() {
		fd := p.In.Fields().Get(i)
		if inner := fd.Message(); inner != nil && !fd.IsMap() && decode.FieldNamed(inner.Fields(), p.Name) != nil && !strings.HasPrefix(string(inner.FullName()), "google.protobuf.") {
			return fd.Name()
		}
	}
	return ""
}

// FieldNames returns the names of a message's fields.
func FieldNames(md protoreflect.MessageDescriptor) []string {
	names := make([]string, md.Fields().Len())
	for i := range names {
		names[i] = string(md.Fields().Get(i).Name())
	}
	return names
}
