package envoy

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/fields"
)

// BadDuration is a duration that Envoy rejects.
type BadDuration struct {
	Field protoreflect.FieldDescriptor
	Index int // -1: the field is not a list
	Key   protoreflect.MapKey
	What  string // what is wrong with it
	Says  string // the gist of Envoy's message
}

// DurationFields returns the fields of a message type that hold durations.
func DurationFields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var all []protoreflect.FieldDescriptor
	for _, f := range durationFields(md) {
		all = append(all, f.FieldDescriptor)
	}
	return all
}

var durationFields = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	if fd.IsMap() {
		fd = fd.MapValue()
	}
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Duration"
})

// BadDurations returns the durations of a message that Envoy rejects.
func BadDurations(m protoreflect.Message) []BadDuration {
	var bad []BadDuration
	all, in := durationFields(m.Descriptor()), fields.In(m)
	for i := range all {
		switch f := &all[i]; {
		case !in.IsSet(f): // most messages have none, and cost nothing
		case f.IsList() || f.IsMap():
			bad = append(bad, badDurationsIn(m, f.FieldDescriptor)...)
		default:
			if what, says := badDuration(in.Inner(f)); what != "" {
				bad = append(bad, BadDuration{Field: f.FieldDescriptor, Index: -1, What: what, Says: says})
			}
		}
	}
	return bad
}

// badDurationsIn looks at a list or a map.
func badDurationsIn(m protoreflect.Message, fd protoreflect.FieldDescriptor) (bad []BadDuration) {
	check := func(d BadDuration, value protoreflect.Message) {
		if d.What, d.Says = badDuration(value); d.What != "" {
			bad = append(bad, d)
		}
	}
	if fd.IsMap() {
		m.Get(fd).Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			check(BadDuration{Field: fd, Index: -1, Key: key}, value.Message())
			return true
		})
		return bad
	}
	for i := range m.Get(fd).List().Len() {
		check(BadDuration{Field: fd, Index: i}, m.Get(fd).List().Get(i).Message())
	}
	return bad
}

// badDuration follows validateDurationNoThrow (common/protobuf/utility.cc).
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

// In returns the place of the duration in its message.
func (d BadDuration) In(at graph.At) graph.At {
	switch name := string(d.Field.Name()); {
	case d.Index >= 0:
		return at.Item(name, d.Index)
	case d.Key.IsValid():
		return at.Entry(name, d.Key.String())
	default:
		return at.Field(name)
	}
}
