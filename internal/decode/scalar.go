package decode

import (
	"encoding/base64"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/tree"
)

// scalar reads a scalar as protobuf's JSON reader in C++ does (json/internal/parser.cc), which accepts more than the
// JSON mapping defines: numbers as strings, hexadecimal, integers written as floats, enum names in any case.
func (d *Decoder) scalar(n *tree.Node, fd protoreflect.FieldDescriptor) (protoreflect.Value, bool) {
	var v protoreflect.Value
	ok := false
	if d.numberInObject(n) {
		number := *n
		number.Kind, n = tree.Number, &number
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		v, ok = d.boolean(n)
	case protoreflect.StringKind:
		v, ok = protoreflect.ValueOfString(n.Text), n.Kind == tree.String
	case protoreflect.BytesKind:
		v, ok = base64Bytes(n)
	case protoreflect.EnumKind:
		return d.enum(n, fd)
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
		d.problem(BadValue, n, "%s", d.mismatch(n, fd))
	}
	return v, ok
}

// numberInObject reports whether kubectl reads a bare word as a number, and Envoy does not.
func (d *Decoder) numberInObject(n *tree.Node) bool {
	return d.Format.ofObject() && n.Kind == tree.String && n.Plain && yamlNumber().MatchString(n.Text)
}

// yamlNumber matches the usual forms of YAML 1.1's floats and integers.
var yamlNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
})

const rendered = ": this looks like a template; render it first"

func (d *Decoder) mismatch(n *tree.Node, fd protoreflect.FieldDescriptor) string {
	text := n.Kind.String()
	if n.Kind == tree.Number || n.Kind == tree.Bool || n.Kind == tree.String && len(n.Text) <= 40 && fd.Kind() != protoreflect.StringKind && fd.Kind() != protoreflect.BytesKind {
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
	message := text + " where " + want + " is expected"
	if tree.IsPlaceholder(n.Text) {
		return message + rendered
	}
	if fd.Kind() == protoreflect.StringKind && n.Plain && n.Kind != tree.String {
		reader := "Envoy"
		if d.Format.ofObject() {
			reader = "Kubernetes"
		}
		message += ": " + reader + " reads the bare word as " + n.Kind.String() + ", in quotes it is a string"
	}
	return message
}

// boolean reads true and false; in quotes, everything that absl::SimpleAtob accepts.
func (d *Decoder) boolean(n *tree.Node) (protoreflect.Value, bool) {
	if n.Kind == tree.Bool || d.Format.ofObject() {
		return protoreflect.ValueOfBool(n.Text == "true"), n.Kind == tree.Bool
	}
	switch strings.ToLower(n.Text) {
	case "true", "t", "yes", "y", "1":
		return protoreflect.ValueOfBool(true), n.Kind == tree.String
	case "false", "f", "no", "n", "0":
		return protoreflect.ValueOfBool(false), n.Kind == tree.String
	}
	return protoreflect.Value{}, false
}

// float reads a number; in quotes, everything that absl::SimpleAtod accepts: space around it, infinities, hexadecimal.
func float(n *tree.Node) (float64, bool) {
	text := n.Text
	switch n.Kind {
	case tree.String:
		text = strings.TrimSpace(text)
	case tree.Number:
	default:
		return 0, false
	}
	if strings.Contains(text, "_") {
		return 0, false
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, true
	} else if math.IsInf(f, 0) {
		return f, n.Kind == tree.String // out of range
	}
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		hex, err := strconv.ParseUint(text[2:], 16, 64)
		return float64(hex), err == nil
	}
	return 0, false
}

// integer reads an integer of any width, also from a float without a fraction.
func integer(n *tree.Node, kind protoreflect.Kind) (protoreflect.Value, bool) {
	if n.Kind != tree.Number && n.Kind != tree.String {
		return protoreflect.Value{}, false
	}
	signed, err := strconv.ParseInt(n.Text, 10, 64)
	inSigned := err == nil
	unsigned, err := strconv.ParseUint(n.Text, 10, 64)
	inUnsigned := err == nil
	if inSigned && signed >= 0 {
		unsigned, inUnsigned = uint64(signed), true // "+80"
	}
	if !inSigned && !inUnsigned {
		f, ok := float(n)
		if !ok || n.Text != strings.TrimSpace(n.Text) || f != math.Trunc(f) || math.IsInf(f, 0) {
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

// base64Bytes accepts both alphabets, with complete padding or without padding.
func base64Bytes(n *tree.Node) (protoreflect.Value, bool) {
	if n.Kind != tree.String || strings.ContainsAny(n.Text, "\r\n") {
		return protoreflect.Value{}, false
	}
	text := n.Text
	if strings.ContainsAny(text, "-_") {
		text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(text, "=") {
		encoding = base64.StdEncoding
	}
	raw, err := encoding.DecodeString(text)
	return protoreflect.ValueOfBytes(raw), err == nil
}

// enum reads a name, in any case, or a number. An unknown name is treated like an unknown field.
func (d *Decoder) enum(n *tree.Node, fd protoreflect.FieldDescriptor) (protoreflect.Value, bool) {
	values := fd.Enum().Values()
	switch n.Kind {
	case tree.Null:
		if fd.Enum().FullName() == "google.protobuf.NullValue" {
			return protoreflect.ValueOfEnum(0), true
		}
	case tree.String:
		if v := values.ByName(protoreflect.Name(n.Text)); v != nil {
			return protoreflect.ValueOfEnum(v.Number()), true
		}
		if v := values.ByName(protoreflect.Name(strings.ToUpper(n.Text))); v != nil && !d.Format.ofObject() {
			return protoreflect.ValueOfEnum(v.Number()), true
		}
		if i, err := strconv.ParseInt(n.Text, 10, 32); err == nil && !d.Format.ofObject() {
			return protoreflect.ValueOfEnum(protoreflect.EnumNumber(i)), true
		}
		p := d.problem(UnknownEnum, n, "%q is not a value of the enum %s", n.Text, fd.Enum().FullName())
		p.Name, p.Enum = n.Text, fd.Enum()
		return protoreflect.Value{}, false
	case tree.Number:
		if v, ok := integer(n, protoreflect.Int32Kind); ok {
			return protoreflect.ValueOfEnum(protoreflect.EnumNumber(v.Int())), true
		}
	}
	d.problem(BadValue, n, "%s where a name of the enum %s is expected", n.Kind, fd.Enum().FullName())
	return protoreflect.Value{}, false
}
