package decode

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	_ "google.golang.org/protobuf/types/known/durationpb" // Anys may hold any of these
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/tree"
)

type reader func(d *Decoder, n *tree.Node, m fields.Message, depth int)

// wellKnown holds the readers of messages with a special JSON form.
var wellKnown map[protoreflect.FullName]reader

func init() { // the readers call the decoder, which reads this map
	wellKnown = map[protoreflect.FullName]reader{
		"google.protobuf.Any":         (*Decoder).any,
		"google.protobuf.Duration":    (*Decoder).duration,
		"google.protobuf.Timestamp":   (*Decoder).timestamp,
		"google.protobuf.FieldMask":   (*Decoder).fieldMask,
		"google.protobuf.Struct":      (*Decoder).structure,
		"google.protobuf.Value":       (*Decoder).value,
		"google.protobuf.ListValue":   (*Decoder).listValue,
		"google.protobuf.BoolValue":   (*Decoder).wrapper,
		"google.protobuf.BytesValue":  (*Decoder).wrapper,
		"google.protobuf.DoubleValue": (*Decoder).wrapper,
		"google.protobuf.FloatValue":  (*Decoder).wrapper,
		"google.protobuf.Int32Value":  (*Decoder).wrapper,
		"google.protobuf.Int64Value":  (*Decoder).wrapper,
		"google.protobuf.StringValue": (*Decoder).wrapper,
		"google.protobuf.UInt32Value": (*Decoder).wrapper,
		"google.protobuf.UInt64Value": (*Decoder).wrapper,
	}
}

// wrapper reads a bare scalar and, as Envoy does, {value: 5}.
func (d *Decoder) wrapper(n *tree.Node, m fields.Message, depth int) {
	if d.spelledOut(n) {
		d.fields(n, m, depth, false)
		return
	}
	f := planOf(m.Descriptor()).numbered(1)
	if v, ok := d.scalar(n, f.FieldDescriptor); ok {
		m.Put(&f.Field, v)
	}
}

// duration reads "1.5s" and, as Envoy does, {seconds: 1, nanos: 5}.
func (d *Decoder) duration(n *tree.Node, m fields.Message, depth int) {
	if d.spelledOut(n) {
		d.fields(n, m, depth, false)
		return
	}
	seconds, nanos, ok := parseDuration(n)
	if d.Format == Jsonpb {
		seconds, nanos, ok = goDuration(n)
	}
	if !ok {
		text := n.Kind.String()
		if n.Text != "" {
			text = strconv.Quote(n.Text)
		}
		if tree.IsPlaceholder(n.Text) {
			d.problem(BadValue, n, "%s is not a duration%s", text, rendered)
			return
		}
		d.problem(BadValue, n, `%s is not a duration: write seconds followed by "s", such as "0.5s" or "300s"`, text)
		return
	}
	setSeconds(m, seconds, nanos)
}

// spelledOut reports whether a message with a special JSON form is written field by field, which Envoy accepts.
func (d *Decoder) spelledOut(n *tree.Node) bool { return n.Kind == tree.Map && !d.Format.ofObject() }

// goDuration reads what jsonpb accepts as a duration, which includes "5m" and "1m30s".
func goDuration(n *tree.Node) (seconds int64, nanos int32, ok bool) {
	d, err := time.ParseDuration(n.Text)
	return int64(d / time.Second), int32(d % time.Second), n.Kind == tree.String && err == nil
}

func parseDuration(n *tree.Node) (seconds int64, nanos int32, ok bool) {
	text, found := strings.CutSuffix(n.Text, "s")
	if n.Kind != tree.String || !found {
		return 0, 0, false
	}
	whole, fraction, point := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 || point && fraction == "" || strings.HasPrefix(whole, "+") {
		return 0, 0, false
	}
	if fraction != "" {
		digits, err := strconv.ParseUint(fraction+strings.Repeat("0", 9-len(fraction)), 10, 32)
		if err != nil {
			return 0, 0, false
		}
		nanos = int32(digits)
	}
	if strings.HasPrefix(whole, "-") {
		nanos = -nanos
	}
	const limit = 315_576_000_000 // 10,000 years, duration.proto
	return seconds, nanos, -limit <= seconds && seconds <= limit
}

func (d *Decoder) timestamp(n *tree.Node, m fields.Message, depth int) {
	if d.spelledOut(n) {
		d.fields(n, m, depth, false)
		return
	}
	t, err := time.Parse(time.RFC3339Nano, n.Text)
	if n.Kind != tree.String || err != nil {
		d.problem(BadValue, n, `%q is not a timestamp such as "2026-01-31T12:00:00Z"`, n.Text)
		return
	}
	setSeconds(m, t.Unix(), int32(t.Nanosecond()))
}

func setSeconds(m fields.Message, seconds int64, nanos int32) {
	p := planOf(m.Descriptor())
	m.Put(&p.numbered(1).Field, protoreflect.ValueOfInt64(seconds))
	m.Put(&p.numbered(2).Field, protoreflect.ValueOfInt32(nanos))
}

func (d *Decoder) fieldMask(n *tree.Node, m fields.Message, depth int) {
	if d.spelledOut(n) {
		d.fields(n, m, depth, false)
		return
	}
	if n.Kind != tree.String {
		d.problem(BadValue, n, "%s is not a field mask: write names separated by commas", n.Kind)
		return
	}
	paths := m.Mutable(m.Descriptor().Fields().ByNumber(1)).List()
	for _, path := range strings.Split(n.Text, ",") {
		if path != "" {
			paths.Append(protoreflect.ValueOfString(path))
		}
	}
}

func (d *Decoder) structure(n *tree.Node, m fields.Message, depth int) {
	if n.Kind != tree.Map {
		d.problem(BadValue, n, "%s where a map is expected", n.Kind)
		return
	}
	d.mapField(n, m, planOf(m.Descriptor()).numbered(1), depth)
}

func (d *Decoder) listValue(n *tree.Node, m fields.Message, depth int) {
	if n.Kind != tree.List {
		d.problem(BadValue, n, "%s where a list is expected", n.Kind)
		return
	}
	d.field(n, m, planOf(m.Descriptor()).numbered(1), depth)
}

// value reads any JSON value. The field numbers are those of struct.proto.
func (d *Decoder) value(n *tree.Node, m fields.Message, depth int) {
	p := planOf(m.Descriptor())
	switch n.Kind {
	case tree.Null:
		m.Put(&p.numbered(1).Field, protoreflect.ValueOfEnum(0))
	case tree.Number:
		f, ok := float(n)
		if !ok {
			d.problem(BadValue, n, "%s does not fit into a double", n.Text)
		}
		m.Put(&p.numbered(2).Field, protoreflect.ValueOfFloat64(f))
	case tree.String:
		m.Put(&p.numbered(3).Field, protoreflect.ValueOfString(n.Text))
	case tree.Bool:
		m.Put(&p.numbered(4).Field, protoreflect.ValueOfBool(n.Text == "true"))
	case tree.Map:
		d.message(n, m.Made(&p.numbered(5).Field), depth)
	case tree.List:
		d.message(n, m.Made(&p.numbered(6).Field), depth)
	}
}
