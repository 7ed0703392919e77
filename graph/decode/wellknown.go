package decode

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type reader func(d *Decoder, n *Node, m protoreflect.Message, at *Path, depth int)

// wellKnown are the messages that have a JSON form of their own.
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

func (d *Decoder) wrapper(n *Node, m protoreflect.Message, at *Path, _ int) {
	fd := m.Descriptor().Fields().ByNumber(1)
	if v, ok := d.scalar(n, fd, at); ok {
		m.Set(fd, v)
	}
}

// duration reads "1.5s"; as Envoy does, also {seconds: 1, nanos: 5}.
func (d *Decoder) duration(n *Node, m protoreflect.Message, at *Path, depth int) {
	if n.Kind == Map {
		d.fields(n, m, at, depth, false)
		return
	}
	seconds, nanos, ok := parseDuration(n)
	if !ok {
		text := n.Kind.String()
		if n.Text != "" {
			text = strconv.Quote(n.Text)
		}
		d.problem(BadValue, n, at, `%s is no duration: seconds with an "s" behind them, such as "0.5s" or "300s"`, text)
		return
	}
	setSeconds(m, seconds, nanos)
}

func parseDuration(n *Node) (seconds int64, nanos int32, ok bool) {
	text, found := strings.CutSuffix(n.Text, "s")
	if n.Kind != String || !found {
		return 0, 0, false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 || strings.HasPrefix(whole, "+") {
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

func (d *Decoder) timestamp(n *Node, m protoreflect.Message, at *Path, depth int) {
	if n.Kind == Map {
		d.fields(n, m, at, depth, false)
		return
	}
	t, err := time.Parse(time.RFC3339Nano, n.Text)
	if n.Kind != String || err != nil {
		d.problem(BadValue, n, at, `%q is no timestamp such as "2026-01-31T12:00:00Z"`, n.Text)
		return
	}
	setSeconds(m, t.Unix(), int32(t.Nanosecond()))
}

func setSeconds(m protoreflect.Message, seconds int64, nanos int32) {
	fields := m.Descriptor().Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfInt64(seconds))
	m.Set(fields.ByNumber(2), protoreflect.ValueOfInt32(nanos))
}

func (d *Decoder) fieldMask(n *Node, m protoreflect.Message, at *Path, depth int) {
	if n.Kind == Map {
		d.fields(n, m, at, depth, false)
		return
	}
	if n.Kind != String {
		d.problem(BadValue, n, at, "%s is no field mask: names with commas between them", n.Kind)
		return
	}
	paths := m.Mutable(m.Descriptor().Fields().ByNumber(1)).List()
	for _, path := range strings.Split(n.Text, ",") {
		if path != "" {
			paths.Append(protoreflect.ValueOfString(path))
		}
	}
}

func (d *Decoder) structure(n *Node, m protoreflect.Message, at *Path, depth int) {
	if n.Kind != Map {
		d.problem(BadValue, n, at, "%s stands where a map belongs", n.Kind)
		return
	}
	d.mapField(n, m, m.Descriptor().Fields().ByNumber(1), at, depth)
}

func (d *Decoder) listValue(n *Node, m protoreflect.Message, at *Path, depth int) {
	if n.Kind != List {
		d.problem(BadValue, n, at, "%s stands where a list belongs", n.Kind)
		return
	}
	d.field(n, m, m.Descriptor().Fields().ByNumber(1), at, depth)
}

// value reads any JSON value. The field numbers are those of struct.proto.
func (d *Decoder) value(n *Node, m protoreflect.Message, at *Path, depth int) {
	fields := m.Descriptor().Fields()
	switch n.Kind {
	case Null:
		m.Set(fields.ByNumber(1), protoreflect.ValueOfEnum(0))
	case Number:
		f, _ := float(n)
		m.Set(fields.ByNumber(2), protoreflect.ValueOfFloat64(f))
	case String:
		m.Set(fields.ByNumber(3), protoreflect.ValueOfString(n.Text))
	case Bool:
		m.Set(fields.ByNumber(4), protoreflect.ValueOfBool(n.Text == "true"))
	case Map:
		d.message(n, m.Mutable(fields.ByNumber(5)).Message(), at, depth+1)
	case List:
		d.message(n, m.Mutable(fields.ByNumber(6)).Message(), at, depth+1)
	}
}

// any reads {"@type": …, fields…} into the Any's bytes, and remembers the message.
func (d *Decoder) any(n *Node, m protoreflect.Message, at *Path, depth int) {
	if n.Kind != Map {
		d.problem(BadAny, n, at, `%s stands where a map with an "@type" belongs`, n.Kind)
		return
	}
	if len(n.Keys) == 0 {
		return
	}
	url := n.Get("@type")
	if url == nil || url.Kind != String || url.Text == "" {
		d.problem(BadAny, n, at, `there is no "@type" here, so nobody knows what these fields mean`)
		return
	}
	fields := m.Descriptor().Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfString(url.Text))
	content := d.content(url, at)
	if content == nil {
		return
	}
	inner := content.ProtoReflect()
	if wellKnown[inner.Descriptor().FullName()] == nil {
		d.fields(n, inner, at, depth+1, true)
	} else if value := n.Get("value"); value != nil {
		d.message(value, inner, at, depth+1)
	}
	d.Contents[m.Interface()] = content
	if bytes, err := anyBytes.Marshal(content); err == nil {
		m.Set(fields.ByNumber(2), protoreflect.ValueOfBytes(bytes))
	}
	d.typedStruct(n.Get("value"), inner, at, depth+1)
}

var anyBytes = proto.MarshalOptions{AllowPartial: true, Deterministic: true}

// content makes an empty message of the type that a type URL names.
func (d *Decoder) content(url *Node, at *Path) proto.Message {
	name := TypeName(url.Text)
	mt, err := d.Types.FindMessageByName(name)
	if err != nil {
		p := d.problem(UnknownType, url, at, "the type %q is not known", name)
		p.Name = url.Text
		return nil
	}
	return mt.New().Interface()
}

// TypeName is the message's name in a type URL: what stands behind the last slash.
func TypeName(url string) protoreflect.FullName {
	return protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:])
}

// typedStruct decodes what a TypedStruct stands for: Envoy makes JSON of its value and reads that as the type it names
// (config/utility.cc, translateOpaqueConfig).
func (d *Decoder) typedStruct(value *Node, m protoreflect.Message, at *Path, depth int) {
	if !IsTypedStruct(m.Descriptor().FullName()) || value == nil || value.Kind != Map {
		return
	}
	fields := m.Descriptor().Fields()
	url := m.Get(fields.ByName("type_url")).String()
	mt, err := d.Types.FindMessageByName(TypeName(url))
	if err != nil {
		p := d.problem(UnknownType, value, at, "the type %q is not known", TypeName(url))
		p.Name = url
		return
	}
	content := mt.New()
	d.fields(value, content, at.Field("value"), depth+1, false)
	d.Contents[m.Get(fields.ByName("value")).Message().Interface()] = content.Interface()
}

// IsTypedStruct tells the messages that carry another one as a Struct.
func IsTypedStruct(name protoreflect.FullName) bool {
	return name == "udpa.type.v1.TypedStruct" || name == "xds.type.v3.TypedStruct"
}
