package envoy

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
)

// ConstraintsOf returns the constraints of a message type in the target's version of the API, or nil if it has none.
func ConstraintsOf(t dataplane.Target, md protoreflect.MessageDescriptor) *constraint.Checker {
	if t.Differs() {
		return constraint.ForVersion(md, t)
	}
	return constraint.For(md)
}

// UndecodedFields are the fields of a message whose values did not decode. A constraint that such a field violates is not a second mistake.
type UndecodedFields map[protoreflect.Name]bool

// UndecodedFieldsOf returns the fields of a message that did not decode, or nil if all did.
func UndecodedFieldsOf(at *graph.Place) UndecodedFields {
	var fields UndecodedFields
	for _, problem := range at.Resource.ProblemsIn(at.Path) {
		if problem.Kind != graph.DuplicateKey { // the first of the two values was decoded
			if fields == nil {
				fields = UndecodedFields{}
			}
			fields[protoreflect.Name(problem.Path.Name())] = true
		}
	}
	return fields
}

// Explains reports whether a violation is only the result of a value that did not decode.
func (u UndecodedFields) Explains(v constraint.Violation) bool {
	if v.Oneof == nil {
		return u[v.Field.Name()]
	}
	for i := range v.Oneof.Fields().Len() {
		if u[v.Oneof.Fields().Get(i).Name()] {
			return true
		}
	}
	return false
}

// Violated returns the place of a violation and a label for it.
func Violated(at graph.At, v constraint.Violation) (where graph.At, label string) {
	switch {
	case v.Oneof != nil:
		where, label = at.Key(), string(v.Oneof.Name())
	case v.Key.IsValid():
		where, label = at.Entry(string(v.Field.Name()), v.Key.String()), fmt.Sprintf("%s[%q]", v.Field.Name(), v.Key.String())
	case v.Index >= 0:
		where, label = at.Item(string(v.Field.Name()), v.Index), fmt.Sprintf("%s[%d]", v.Field.Name(), v.Index)
	default:
		where, label = at.Field(string(v.Field.Name())), string(v.Field.Name())
	}
	if v.OnKey {
		where, label = where.Key(), "the key of "+label
	}
	return where, label
}

// ViolationText returns a violation in the format of PGV for C++: "ListenerValidationError.Name: …".
func ViolationText(md protoreflect.MessageDescriptor, v constraint.Violation) string {
	switch {
	case v.Oneof != nil:
		return fmt.Sprintf("Proto constraint validation failed (field: %q, reason: %s)", v.Oneof.Name(), v.Upstream)
	case v.Index >= 0:
		return fmt.Sprintf("Proto constraint validation failed (%sValidationError.%s[%d]: %s)", md.Name(), camel(v.Field.Name()), v.Index, v.Upstream)
	case v.Key.IsValid():
		return fmt.Sprintf("Proto constraint validation failed (%sValidationError.%s[%s]: %s)", md.Name(), camel(v.Field.Name()), v.Key.String(), v.Upstream)
	}
	return fmt.Sprintf("Proto constraint validation failed (%sValidationError.%s: %s)", md.Name(), camel(v.Field.Name()), v.Upstream)
}

func camel(name protoreflect.Name) string {
	var b strings.Builder
	for part := range strings.SplitSeq(string(name), "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// RejectedInResponse returns the place of a value for which Envoy rejects the whole response when it reads the resource
// (MessageUtil::anyConvertAndValidate): a violated constraint or an invalid duration in the message itself. Envoy checks the content of
// Anys later, and then rejects only the resource.
func RejectedInResponse(t dataplane.Target, r *graph.Resource) (at graph.At, what string, found bool) {
	r.Walk(func(place *graph.Place) {
		if found || EnclosingAny(place) != nil {
			return
		}
		where := place.At()
		for _, d := range BadDurations(place.Message) {
			at, what, found = d.In(where), string(d.Field.Name())+" "+d.What, true
			return
		}
		if _, constraints := Validated(t.Extensions(), place); !constraints {
			return
		}
		undecoded := UndecodedFieldsOf(place)
		ConstraintsOf(t, place.Message.Descriptor()).Check(place.Message, func(v constraint.Violation) {
			if !found && !undecoded.Explains(v) {
				at, what = Violated(where, v)
				what, found = what+" "+v.Message, true
			}
		})
	})
	return at, what, found
}
