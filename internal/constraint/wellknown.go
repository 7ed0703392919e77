package constraint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// wrappers maps google.protobuf's wrappers to the kinds of their values.
var wrappers = map[protoreflect.FullName]protoreflect.Kind{
	"google.protobuf.DoubleValue": protoreflect.DoubleKind,
	"google.protobuf.FloatValue":  protoreflect.FloatKind,
	"google.protobuf.Int64Value":  protoreflect.Int64Kind,
	"google.protobuf.UInt64Value": protoreflect.Uint64Kind,
	"google.protobuf.Int32Value":  protoreflect.Int32Kind,
	"google.protobuf.UInt32Value": protoreflect.Uint32Kind,
	"google.protobuf.BoolValue":   protoreflect.BoolKind,
	"google.protobuf.StringValue": protoreflect.StringKind,
	"google.protobuf.BytesValue":  protoreflect.BytesKind,
}

// wrappedField returns the field of a wrapper that its rules apply to, or nil if md is not a wrapper.
func wrappedField(md protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if kind, ok := wrappers[md.FullName()]; ok {
		return plainField(md, "value", kind)
	}
	return nil
}

// plainField finds a singular field of a kind. It checks that, since a user's descriptors may define any message as
// google.protobuf.Duration.
func plainField(md protoreflect.MessageDescriptor, name protoreflect.Name, kind protoreflect.Kind) protoreflect.FieldDescriptor {
	fd := md.Fields().ByName(name)
	if fd == nil || fd.Kind() != kind || fd.Cardinality() == protoreflect.Repeated {
		return nil
	}
	return fd
}

// unwrap returns the value in a wrapper. Reading the generated types directly is far cheaper than reflection, which
// dynamic messages need.
func unwrap(v protoreflect.Value, wrapped protoreflect.FieldDescriptor) protoreflect.Value {
	m := v.Message()
	switch w := m.Interface().(type) {
	case *wrapperspb.UInt32Value:
		return protoreflect.ValueOfUint32(w.GetValue())
	case *wrapperspb.UInt64Value:
		return protoreflect.ValueOfUint64(w.GetValue())
	case *wrapperspb.DoubleValue:
		return protoreflect.ValueOfFloat64(w.GetValue())
	}
	if fd := plainField(m.Descriptor(), "value", wrapped.Kind()); fd != nil {
		return m.Get(fd)
	}
	return wrapped.Default()
}

// wrapperRules compiles the rules of a wrapped value.
func wrapperRules(wrapped protoreflect.FieldDescriptor, r *validate.FieldRules) []rule {
	rules := scalarRules(wrapped, r)
	for i := range rules {
		broken, shown := rules[i].broken, rules[i].shown
		rules[i].broken = func(v protoreflect.Value) bool { return broken(unwrap(v, wrapped)) }
		if shown != nil {
			rules[i].shown = func(v protoreflect.Value) string { return shown(unwrap(v, wrapped)) }
		}
	}
	return rules
}

// anyRules compiles validate.AnyRules, except for required.
func anyRules(r *validate.AnyRules) []rule {
	shown := func(v protoreflect.Value) string { return fmt.Sprintf("is a %q", typeURL(v)) }
	if in := r.In; len(in) > 0 {
		return []rule{{
			broken:   func(v protoreflect.Value) bool { return !slices.Contains(in, typeURL(v)) },
			message:  "must be one of " + strings.Join(in, ", "),
			shown:    shown,
			upstream: fmt.Sprint("type URL must be in list ", in),
		}}
	}
	if not := r.NotIn; len(not) > 0 {
		return []rule{{
			broken:   func(v protoreflect.Value) bool { return slices.Contains(not, typeURL(v)) },
			message:  "must not be one of " + strings.Join(not, ", "),
			shown:    shown,
			upstream: fmt.Sprint("type URL must not be in list ", not),
		}}
	}
	return nil
}

func typeURL(v protoreflect.Value) string {
	if a, ok := v.Message().Interface().(*anypb.Any); ok {
		return a.GetTypeUrl()
	}
	m := v.Message()
	if fd := plainField(m.Descriptor(), "type_url", protoreflect.StringKind); fd != nil {
		return m.Get(fd).String()
	}
	return ""
}

// span is a Duration or a Timestamp. A Go time.Duration cannot hold their whole range.
type span struct {
	seconds int64
	nanos   int32
}

func spanOf(v protoreflect.Value) span {
	switch d := v.Message().Interface().(type) {
	case *durationpb.Duration:
		return span{d.GetSeconds(), d.GetNanos()}
	case *timestamppb.Timestamp:
		return span{d.GetSeconds(), d.GetNanos()}
	}
	m, s := v.Message(), span{}
	if fd := plainField(m.Descriptor(), "seconds", protoreflect.Int64Kind); fd != nil {
		s.seconds = m.Get(fd).Int()
	}
	if fd := plainField(m.Descriptor(), "nanos", protoreflect.Int32Kind); fd != nil {
		s.nanos = int32(m.Get(fd).Int())
	}
	return s
}

func (s span) less(t span) bool {
	return s.seconds < t.seconds || s.seconds == t.seconds && s.nanos < t.nanos
}

// duration formats a Duration as YAML and JSON do: "0.25s".
func (s span) duration() string {
	sign := ""
	if s.seconds < 0 || s.nanos < 0 {
		sign = "-"
	}
	seconds := strings.TrimPrefix(fmt.Sprint(s.seconds), "-")
	if s.nanos == 0 {
		return sign + seconds + "s"
	}
	nanos := strings.TrimPrefix(fmt.Sprint(s.nanos), "-")
	fraction := strings.TrimRight(strings.Repeat("0", max(0, 9-len(nanos)))+nanos, "0")
	return sign + seconds + "." + fraction + "s"
}

// goDuration formats a Duration as PGV does: "250ms".
func (s span) goDuration() string {
	return (&durationpb.Duration{Seconds: s.seconds, Nanos: s.nanos}).AsDuration().String()
}

func (s span) timestamp() string {
	return time.Unix(s.seconds, int64(s.nanos)).UTC().Format(time.RFC3339Nano)
}

// durationRules compiles validate.DurationRules, except for required. An invalid Duration violates no other rule.
func durationRules(r *validate.DurationRules) []rule {
	const limit = 315_576_000_000 // seconds; kDurationMaxSeconds in protobuf's time_util.h
	invalid := func(v protoreflect.Value) bool {
		s := spanOf(v)
		return s.nanos > 999_999_999 || s.nanos < -999_999_999 || s.seconds > limit || s.seconds < -limit
	}
	o := ordered[span]{get: spanOf, less: span.less, show: span.duration, cite: span.goDuration}
	return ifValid(invalid, "a valid duration", o.rules(r.ProtoReflect()))
}

// timestampRules compiles validate.TimestampRules, except for required. PGV's C++ throws on all others. Those that
// compare with constants have the meaning of validate.proto here. Those about the current time are left out.
func timestampRules(r *validate.TimestampRules) []rule {
	const first, last = -62_135_596_800, 253_402_300_799 // seconds; the years 1 and 9999
	invalid := func(v protoreflect.Value) bool {
		s := spanOf(v)
		return s.nanos > 999_999_999 || s.nanos < 0 || s.seconds > last || s.seconds < first
	}
	o := ordered[span]{get: spanOf, less: span.less, show: span.timestamp, cite: span.timestamp}
	return ifValid(invalid, "a valid timestamp", o.rules(r.ProtoReflect()))
}

func ifValid(invalid func(protoreflect.Value) bool, what string, rules []rule) []rule {
	if len(rules) == 0 {
		return nil
	}
	return append([]rule{{broken: invalid, message: "must be " + what, upstream: "value is not " + what}},
		unless(invalid, rules)...)
}

// isWellKnown reports whether md is that message of google.protobuf.
func isWellKnown(md protoreflect.MessageDescriptor, name protoreflect.Name) bool {
	return md != nil && md.FullName() == protoreflect.FullName("google.protobuf").Append(name)
}
