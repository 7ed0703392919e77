package schema

import (
	"fmt"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "constraint",
	Family:    dataplane.Envoy,
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a value breaks a constraint that Envoy's API declares for its field",
	Links:     []string{"https://github.com/envoyproxy/envoy/issues/159"},
	Run: lint.EachMatching(func(t dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return envoy.ConstraintsOf(t, md) != nil || len(envoy.DurationFields(md)) > 0
	}, checkConstraints),
})

func checkConstraints(p *lint.Pass, at lint.At, m protoreflect.Message) {
	found := envoy.ConstraintsOf(p.Target, m.Descriptor()).Violations(m)
	if at.Resource().Fragment {
		found = slices.DeleteFunc(found, func(v constraint.Violation) bool { return !present(m, v) })
	}
	durations := envoy.BadDurations(m)
	if len(found)+len(durations) == 0 || fetchedByAgent(at) || undecoded(at.Place) {
		return
	}
	read, constraints := envoy.Validated(p.Target.Extensions(), at.Place)
	fields := envoy.UndecodedFieldsOf(at.Place)
	if constraints {
		for _, v := range found {
			if !fields.Explains(v) && !lost(at, m, v) {
				reportViolation(p, at, v)
			}
		}
	}
	if read || len(durations) > 0 && envoy.ReadsDurations(p.Target.Extensions(), at.Place) {
		for _, d := range durations {
			if !constraints || !violates(found, d.Field) {
				reportDuration(p, at, d)
			}
		}
	}
}

// fetchedByAgent reports whether at is in a Wasm module of an EnvoyFilter's EXTENSION_CONFIG. Istio's agent fetches it and
// gives Envoy a file instead (MaybeConvertWasmExtensionConfig of its pkg/wasm), so Envoy never sees that it lacks a cluster
// and a checksum.
func fetchedByAgent(at lint.At) bool {
	r := at.Resource()
	if r.Kind != graph.Patch || r.Object.Kind != graph.EnvoyFilter {
		return false
	}
	_, discovered := r.Message.(*corev3.TypedExtensionConfig)
	return discovered && at.Place.Enclosing("envoy.config.core.v3.RemoteDataSource") != nil
}

// lost reports whether a violation is about a value that was given under an unknown key.
func lost(at lint.At, m protoreflect.Message, v constraint.Violation) bool {
	if v.Oneof == nil {
		return !m.Has(v.Field) && check.UnderUnknownKey(at.Resource(), at.Path(), v.Field.Name())
	}
	for i := range v.Oneof.Fields().Len() {
		if check.UnderUnknownKey(at.Resource(), at.Path(), v.Oneof.Fields().Get(i).Name()) {
			return true
		}
	}
	return false
}

// present reports whether a violation is about a value that is set, not about a missing value or the number of values: a
// fragment is merged into a message that has more.
func present(m protoreflect.Message, v constraint.Violation) bool {
	if v.Oneof != nil || !m.Has(v.Field) {
		return false
	}
	several := v.Field.IsList() || v.Field.IsMap()
	return !several || v.Index >= 0 || v.Key.IsValid()
}

func reportViolation(p *lint.Pass, at lint.At, v constraint.Violation) {
	where, label := envoy.Violated(at, v)
	p.Report(where, lint.Diagnostic{
		Message:  label + " " + v.Message,
		Notes:    []string{envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: envoy.ViolationText(at.Place.Message.Descriptor(), v),
	})
}

func violates(found []constraint.Violation, fd protoreflect.FieldDescriptor) bool {
	for _, v := range found {
		if v.Field == fd {
			return true
		}
	}
	return false
}

func reportDuration(p *lint.Pass, at lint.At, d envoy.BadDuration) {
	p.Report(d.In(at), lint.Diagnostic{
		Message:  fmt.Sprintf("%s %s", d.Field.Name(), d.What),
		Notes:    []string{envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: d.Says,
	})
}
