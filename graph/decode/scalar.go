package decode

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalar reads a scalar as protobuf's JSON reader in C++ does (json/internal/parser.cc), which takes more than the JSON
// mapping promises: numbers as strings, hexadecimal, integers written as floats, enum names in any case.
func (d *Decoder) scalar(n *Node, fd protoreflect.FieldDescriptor, at *Path) (protoreflect.Value, bool) {
	var v protoreflect.Value
	ok := false
	switch fd.Kind() {
	case protoreflect.BoolKind:
		v, ok = protoreflect.ValueOfBool(n.Text == "true"), (n.Kind == Bool || n.Kind == String) && (n.Text == "true" || n.Text == "false")
	case protoreflect.StringKind:
		v, ok = protoreflect.ValueOfString(n.Text), n.Kind == String
	case protoreflect.BytesKind:
		v, ok = base64Bytes(n)
	case protoreflect.EnumKind:
		return d.enum(n, fd, at)
	case protoreflect.FloatKind:
		f, good := float(n)
		v, ok = protoreflect.ValueOfFloat32(float32(f)), good && (math.Abs(f) <= math.MaxFloat32 || math.IsInf(f, 0) || math.IsNaN(f))
	case protoreflect.DoubleKind:
		f, good := float(n)
		v, ok = protoreflect.ValueOfFloat64(f), good
	default:
		v, ok = integer(n, fd.Kind())
	}
	if !ok {
		d.problem(BadValue, n, at, "%s", mismatch(n, fd))
	}
	return v, ok
}

func mismatch(n *Node, fd protoreflect.FieldDescriptor) string {
	text := n.Kind.String()
	if n.Kind == Number || n.Kind == Bool || n.Kind == String && len(n.Text) <= 40 && fd.Kind() != protoreflect.StringKind {
		text += " (" + n.Text + ")"
	}
	want := "a " + fd.Kind().String()
	switch fd.Kind() {
	case protoreflect.BoolKind:
		want = "true or false"
	case protoreflect.BytesKind:
		want = "base64 text"
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		want = "an integer (" + fd.Kind().String() + ")"
	}
	message := text + " stands where " + want + " belongs"
	if fd.Kind() == protoreflect.StringKind && n.Plain {
		message += ": Envoy reads the bare word as " + n.Kind.String() + ", in quotes it is a string"
	}
	return message
}

func float(n *Node) (float64, bool) {
	if n.Kind != Number && n.Kind != String {
		return 0, false
	}
	switch n.Text {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if n.Text == "" || strings.ContainsAny(n.Text, " \t\r\n_") {
		return 0, false
	}
	if hex, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(n.Text), "0x"), 16, 64); err == nil && len(n.Text) > 2 && (n.Text[1] == 'x' || n.Text[1] == 'X') {
		return float64(hex), true
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	return f, err == nil
}

// integer reads an integer of any width; a float without a fraction will do.
func integer(n *Node, kind protoreflect.Kind) (protoreflect.Value, bool) {
	if n.Kind != Number && n.Kind != String {
		return protoreflect.Value{}, false
	}
	signed, err := strconv.ParseInt(n.Text, 10, 64)
	inSigned := err == nil
	unsigned, err := strconv.ParseUint(n.Text, 10, 64)
	inUnsigned := err == nil
	if !inSigned && !inUnsigned {
		f, ok := float(n)
		if !ok || f != math.Trunc(f) || math.IsInf(f, 0) {
			return protoreflect.Value{}, false
		}
		inSigned, inUnsigned = math.Abs(f) < 1<<63, f >= 0 && f < 1<<64
		signed, unsigned = int64(f), uint64(f)
	}
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(signed)), inSigned && signed == int64(int32(signed))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(unsigned)), inUnsigned && unsigned <= math.MaxUint32
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(unsigned), inUnsigned
	default:
		return protoreflect.ValueOfInt64(signed), inSigned
	}
}

func base64Bytes(n *Node) (protoreflect.Value, bool) {
	text := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(n.Text), "=")
	raw, err := base64.RawStdEncoding.DecodeString(text)
	return protoreflect.ValueOfBytes(raw), n.Kind == String && err == nil
}

func (d *Decoder) enum(n *Node, fd protoreflect.FieldDescriptor, at *Path) (protoreflect.Value, bool) {
	values := fd.Enum().Values()
	if n.Kind == Null && fd.Enum().FullName() == "google.protobuf.NullValue" {
		return protoreflect.ValueOfEnum(0), true
	}
	if n.Kind == String {
		if v := values.ByName(protoreflect.Name(n.Text)); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), true
		}
		folded := protoreflect.Name(strings.ToUpper(strings.ReplaceAll(n.Text, "-", "_")))
		if v := values.ByName(folded); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), true
		}
	}
	if v, ok := integer(n, protoreflect.Int32Kind); ok {
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(v.Int())), true
	}
	if n.Kind != String {
		d.problem(BadValue, n, at, "%s stands where a name of the enum %s belongs", n.Kind, fd.Enum().FullName())
		return protoreflect.Value{}, false
	}
	p := d.problem(UnknownEnum, n, at, "%q is no value of the enum %s", n.Text, fd.Enum().FullName())
	p.Name, p.Enum = n.Text, fd.Enum()
	return protoreflect.Value{}, false
}
