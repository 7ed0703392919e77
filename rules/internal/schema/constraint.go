package schema

import (
	"fmt"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "constraint",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a value breaks a constraint that Envoy's protos state for its field",
	Links:     []string{"https://github.com/envoyproxy/envoy/issues/159"},
	Run: lint.EachMatching(func(t dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return checker(t, md) != nil || len(durationsOf(md)) > 0
	}, checkConstraints),
})

// checker is that of the target's version of the API.
func checker(t dataplane.Target, md protoreflect.MessageDescriptor) *constraint.Checker {
	if t.Differs() {
		return constraint.ForVersion(md, t)
	}
	return constraint.For(md)
}

func checkConstraints(p *lint.Pass, at lint.At, m protoreflect.Message) {
	var found []constraint.Violation
	checker(p.Target, m.Descriptor()).Check(m, func(v constraint.Violation) {
		if !at.Resource().Fragment || present(m, v) {
			found = append(found, v)
		}
	})
	durations := badDurations(m)
	if len(found)+len(durations) == 0 || fetchedByAgent(at) {
		return
	}
	read, constraints := envoy.Validated(p.Target.Extensions(), at.Place)
	undecoded := undecodedFields(at.Place)
	if constraints {
		for _, v := range found {
			if !undecoded.explains(v) {
				reportViolation(p, at, v)
			}
		}
	}
	if read || len(durations) > 0 && envoy.ReadsDurations(p.Target.Extensions(), at.Place) {
		for _, d := range durations {
			if !constraints || !violates(found, d.fd) {
				reportDuration(p, at, d)
			}
		}
	}
}

// fetchedByAgent tells a Wasm module of an EnvoyFilter's EXTENSION_CONFIG: Istio's agent fetches it and gives Envoy a file instead
// (MaybeConvertWasmExtensionConfig of its pkg/wasm), so Envoy never sees that it lacks a cluster and a checksum.
func fetchedByAgent(at lint.At) bool {
	r := at.Resource()
	if r.Kind != graph.Patch || r.Object.Kind != graph.EnvoyFilter {
		return false
	}
	_, discovered := r.Message.(*corev3.TypedExtensionConfig)
	return discovered && at.Place.Enclosing("envoy.config.core.v3.RemoteDataSource") != nil
}

// present tells whether a violation is about a value that is there, not about one that is missing or about how many there are: a fragment is
// merged into a message that has more.
func present(m protoreflect.Message, v constraint.Violation) bool {
	if v.Oneof != nil || !m.Has(v.Field) {
		return false
	}
	several := v.Field.IsList() || v.Field.IsMap()
	return !several || v.Index >= 0 || v.Key.IsValid()
}

// undecoded are the fields of a message whose values could not be read. What they then lack is no second mistake.
type undecoded map[protoreflect.Name]bool

func undecodedFields(at *graph.Place) undecoded {
	var fields undecoded
	path := at.Path.String()
	for _, problem := range at.Resource.Problems {
		lost := problem.Kind != graph.DuplicateKey // of two values one was read
		if lost && problem.Path != nil && problem.Path.Parent().String() == path {
			if fields == nil {
				fields = undecoded{}
			}
			fields[protoreflect.Name(problem.Path.Name())] = true
		}
	}
	return fields
}

func (u undecoded) explains(v constraint.Violation) bool {
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

func reportViolation(p *lint.Pass, at lint.At, v constraint.Violation) {
	where, label := violated(at, v)
	p.Report(where, lint.Diagnostic{
		Message:  label + " " + v.Message,
		Notes:    []string{envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: upstreamViolation(at.Place.Message.Descriptor(), v),
	})
}

// violated is where a violation is, and what it is called there.
func violated(at lint.At, v constraint.Violation) (where lint.At, label string) {
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

// upstreamViolation spells a violation as PGV's C++ does: "ListenerValidationError.Name: …".
func upstreamViolation(md protoreflect.MessageDescriptor, v constraint.Violation) string {
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

// duration is one that Envoy does not take.
type duration struct {
	fd    protoreflect.FieldDescriptor
	index int // -1: no list
	key   protoreflect.MapKey
	what  string // what is wrong with it
	gist  string
}

var durationFields sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

func durationsOf(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if fields, ok := durationFields.Load(md); ok {
		return fields.([]protoreflect.FieldDescriptor)
	}
	var fields []protoreflect.FieldDescriptor
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		value := fd
		if fd.IsMap() {
			value = fd.MapValue()
		}
		if value.Message() != nil && value.Message().FullName() == "google.protobuf.Duration" {
			fields = append(fields, fd)
		}
	}
	durationFields.Store(md, fields)
	return fields
}

func badDurations(m protoreflect.Message) []duration {
	var bad []duration
	for _, fd := range durationsOf(m.Descriptor()) {
		if m.Has(fd) { // most messages have none, and cost nothing
			bad = append(bad, badDurationsIn(m, fd)...)
		}
	}
	return bad
}

func badDurationsIn(m protoreflect.Message, fd protoreflect.FieldDescriptor) (bad []duration) {
	check := func(d duration, value protoreflect.Message) {
		if d.what, d.gist = badDuration(value); d.what != "" {
			bad = append(bad, d)
		}
	}
	switch {
	case fd.IsList():
		for i := range m.Get(fd).List().Len() {
			check(duration{fd: fd, index: i}, m.Get(fd).List().Get(i).Message())
		}
	case fd.IsMap():
		m.Get(fd).Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			check(duration{fd: fd, index: -1, key: key}, value.Message())
			return true
		})
	default:
		check(duration{fd: fd, index: -1}, m.Get(fd).Message())
	}
	return bad
}

// badDuration is validateDurationNoThrow of Envoy's common/protobuf/utility.cc.
func badDuration(d protoreflect.Message) (what, gist string) {
	const maxSeconds = (1<<63 - 1 - 999999999) / 1000000000
	seconds := d.Get(d.Descriptor().Fields().ByNumber(1)).Int()
	nanos := d.Get(d.Descriptor().Fields().ByNumber(2)).Int()
	switch {
	case seconds < 0 || nanos < 0:
		return "must not be negative", "Invalid duration: Expected positive duration"
	case nanos > 999999999:
		return "has more than 999999999 nanoseconds", "Invalid duration: Duration out-of-range according to Protobuf"
	case seconds > maxSeconds:
		return "must be at most 9223372035s, some 292 years", "Invalid duration: Duration out-of-range"
	}
	return "", ""
}

func violates(found []constraint.Violation, fd protoreflect.FieldDescriptor) bool {
	for _, v := range found {
		if v.Field == fd {
			return true
		}
	}
	return false
}

func reportDuration(p *lint.Pass, at lint.At, d duration) {
	p.Report(d.in(at), lint.Diagnostic{
		Message:  fmt.Sprintf("%s %s", d.fd.Name(), d.what),
		Notes:    []string{envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: d.gist,
	})
}

// in is where the duration is in its message.
func (d duration) in(at lint.At) lint.At {
	switch name := string(d.fd.Name()); {
	case d.index >= 0:
		return at.Item(name, d.index)
	case d.key.IsValid():
		return at.Entry(name, d.key.String())
	default:
		return at.Field(name)
	}
}
