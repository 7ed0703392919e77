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
// the mistake. It is only where unknown keys are rejected; over xDS Envoy drops them, and rejects what is missing.
func UnderUnknownKey(r *graph.Resource, message *graph.Path, field protoreflect.Name) bool {
	return slices.ContainsFunc(r.ProblemsIn(message), func(p graph.Problem) bool {
		if p.Kind != graph.UnknownField || p.Node == nil {
			return false
		}
		if r.Delivery != graph.FromBootstrap && !RejectedByGateway(r, p) {
			return false
		}
		return p.Node.Field(string(field)) != nil || p.In != nil && (Meant(p) == string(field) || Holder(p) == field)
	})
}

// RejectedByGateway reports whether Envoy Gateway rejects an unknown field in a patch. Istio drops it.
func RejectedByGateway(r *graph.Resource, p graph.Problem) bool {
	return r.Kind == graph.Patch && !p.Carried && r.Object.Kind == graph.EnvoyPatchPolicy
}

// Meant returns the field that an unknown one was probably meant for: its successor since the v2 API, such as typed_config, one
// with a similar name, or the only one that begins with it, as port_value does with port. It returns "" if there is none.
func Meant(p graph.Problem) string {
	if typed := p.In.Fields().ByName("typed_" + protoreflect.Name(p.Name)); typed != nil {
		return string(typed.Name())
	}
	names := FieldNames(p.In)
	if near := lint.Nearest(p.Name, names); near != "" {
		return near
	}
	longer := slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, p.Name+"_") })
	if len(longer) != 1 {
		return ""
	}
	return longer[0]
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
