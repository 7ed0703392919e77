package asjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

// printer writes one message, in one pass: it opens each Any once, and only what may hold a secret is read again to take
// it out. protojson and a redaction of everything cost four times as much.
type printer struct {
	Writer
	out     []byte
	nested  int  // messages that are begun
	item    int  // in a list of the outermost one
	suspect bool // what is written may hold a secret
	err     error
}

// maxDepth bounds how deep Anys may be nested. It is also xdslint's limit.
const maxDepth = 100

const anyName protoreflect.FullName = "google.protobuf.Any"

var every = fields.Of(func(protoreflect.FieldDescriptor) bool { return true })

// message writes a message. depth is the number of Anys around it.
func (p *printer) message(m protoreflect.Message, depth int) {
	p.nested++
	defer func() { p.nested-- }()
	switch name := m.Descriptor().FullName(); {
	case name == anyName:
		p.any(m, depth)
	case decode.HasOwnJSON(name):
		p.wellKnown(m)
	default:
		p.out = append(p.out, '{')
		p.fields(m, depth)
		p.out = append(p.out, '}')
	}
}

// fields writes the fields of a message, in the order of the proto.
func (p *printer) fields(m protoreflect.Message, depth int) {
	if len(m.GetUnknown()) > 0 {
		p.Fault(p.item, fmt.Sprintf("fields of %s are left out: they are not known, since the API of the server is newer", m.Descriptor().FullName()))
	}
	p.suspect = p.suspect || redact.Suspect(m)
	of, in := every(m.Descriptor()), fields.In(m)
	for i := range of {
		fd := &of[i]
		if !in.IsSet(fd) {
			continue
		}
		p.key(fd.TextName())
		switch {
		case fd.IsMap():
			p.entries(fd.MapValue(), m.Get(fd.FieldDescriptor).Map(), depth)
		case fd.IsList():
			p.list(fd, in, depth)
		case fd.Message() != nil:
			p.message(in.Inner(fd), depth)
		default:
			p.scalar(fd, m.Get(fd.FieldDescriptor))
		}
	}
}

// key writes a key of a map that is begun.
func (p *printer) key(name string) {
	if p.out[len(p.out)-1] != '{' {
		p.out = append(p.out, ',')
	}
	p.quoted(name)
	p.out = append(p.out, ':')
}

func (p *printer) list(fd *fields.Field, in fields.Message, depth int) {
	var scalars protoreflect.List
	if fd.Message() == nil {
		scalars = in.Get(fd.FieldDescriptor).List()
	}
	p.out = append(p.out, '[')
	for i := range in.Len(fd) {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		if p.nested == 1 {
			p.item = i
		}
		if scalars == nil {
			p.message(in.Item(fd, i), depth)
		} else {
			p.scalar(fd, scalars.Get(i))
		}
	}
	p.out = append(p.out, ']')
}

// entries writes a map, sorted by its keys.
func (p *printer) entries(value protoreflect.FieldDescriptor, entries protoreflect.Map, depth int) {
	keys := make([]protoreflect.MapKey, 0, entries.Len())
	entries.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
	p.out = append(p.out, '{')
	for _, k := range keys {
		p.key(k.String())
		if v := entries.Get(k); value.Message() != nil {
			p.message(v.Message(), depth)
		} else {
			p.scalar(value, v)
		}
	}
	p.out = append(p.out, '}')
}

// any writes an Any with its content. What may hold a secret in the outermost one is redacted at once.
func (p *printer) any(m protoreflect.Message, depth int) {
	start, around := len(p.out), p.suspect
	p.suspect = p.suspect && depth > 0
	p.content(m, depth)
	if depth > 0 {
		return
	}
	if p.suspect {
		p.redact(start, anyName)
	}
	p.suspect = around
}

// content writes an Any. Of content that cannot be decoded or written, only the type is left.
func (p *printer) content(m protoreflect.Message, depth int) {
	of := m.Descriptor().Fields()
	body := &anypb.Any{TypeUrl: m.Get(of.ByNumber(1)).String(), Value: m.Get(of.ByNumber(2)).Bytes()}
	p.out = append(p.out, '{')
	if body.GetTypeUrl() != "" {
		p.key("@type")
		p.text(body.GetTypeUrl())
	}
	inner, err := p.Unpack(body)
	if err != nil || depth > maxDepth {
		p.leftOut(body, "the type is not known, or the bytes cannot be decoded")
		p.out = append(p.out, '}')
		return
	}
	before := len(p.out)
	if content := inner.ProtoReflect(); decode.HasOwnJSON(content.Descriptor().FullName()) {
		p.key("value")
		p.message(content, depth+1)
	} else {
		p.fields(content, depth+1)
	}
	if p.err != nil {
		p.leftOut(body, "JSON cannot represent it")
		p.out, p.err = p.out[:before], nil
	}
	p.out = append(p.out, '}')
}

func (p *printer) leftOut(body *anypb.Any, why string) {
	if len(body.GetValue()) > 0 {
		p.Fault(p.item, fmt.Sprintf("the content of a %s is left out: %s", decode.TypeName(body.GetTypeUrl()), why))
	}
}

// redact takes the secrets out of the end of the text, which is a message of that name.
func (p *printer) redact(start int, name protoreflect.FullName) {
	docs, err := syntax.ParseJSON(&source.File{Text: p.out[start:]})
	if err != nil {
		p.out, p.err = p.out[:start], err
		return
	}
	p.out = append(p.out[:start], redact.JSON(slices.Clone(p.out[start:]), docs[0], name, p.Types)...)
}

// wellKnown writes a message that has a form of its own, such as a duration.
func (p *printer) wellKnown(m protoreflect.Message) {
	md := m.Descriptor()
	if fd := md.Fields().ByName("value"); fd != nil && fd.Message() == nil { // a wrapper
		p.scalar(fd, m.Get(fd))
		return
	}
	var text bytes.Buffer
	raw, err := protojson.MarshalOptions{AllowPartial: true}.Marshal(m.Interface())
	if err == nil {
		err = json.Compact(&text, raw) // protojson puts in spaces at random
	}
	if err != nil {
		p.err = err
		return
	}
	switch md.Name() {
	case "Struct":
		p.suspect = p.suspect || redact.Hides(text.String())
	case "Value", "ListValue":
		p.suspect = true
	}
	p.out = append(p.out, text.Bytes()...)
}

func (p *printer) scalar(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch fd.Kind() {
	case protoreflect.StringKind:
		p.text(v.String())
	case protoreflect.BytesKind:
		p.suspect = p.suspect || redact.Hides(string(v.Bytes()))
		p.quoted(base64.StdEncoding.EncodeToString(v.Bytes()))
	case protoreflect.EnumKind:
		p.enum(fd.Enum(), v.Enum())
	case protoreflect.BoolKind:
		p.out = strconv.AppendBool(p.out, v.Bool())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		p.out = strconv.AppendInt(p.out, v.Int(), 10)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		p.out = strconv.AppendUint(p.out, v.Uint(), 10)
	case protoreflect.FloatKind:
		p.float(v.Float(), 32)
	case protoreflect.DoubleKind:
		p.float(v.Float(), 64)
	default:
		p.quoted(v.String()) // 64 bits
	}
}

func (p *printer) enum(ed protoreflect.EnumDescriptor, n protoreflect.EnumNumber) {
	switch value := ed.Values().ByNumber(n); {
	case ed.FullName() == "google.protobuf.NullValue":
		p.out = append(p.out, "null"...)
	case value == nil:
		p.out = strconv.AppendInt(p.out, int64(n), 10)
	default:
		p.quoted(string(value.Name()))
	}
}

func (p *printer) float(f float64, bits int) {
	switch {
	case math.IsNaN(f):
		p.quoted("NaN")
	case math.IsInf(f, 1):
		p.quoted("Infinity")
	case math.IsInf(f, -1):
		p.quoted("-Infinity")
	case f != 0 && (math.Abs(f) < 1e-6 || math.Abs(f) >= 1e21):
		p.out = strconv.AppendFloat(p.out, f, 'e', -1, bits)
	default:
		p.out = strconv.AppendFloat(p.out, f, 'f', -1, bits)
	}
}

// text writes a text of the message, which may hold a secret.
func (p *printer) text(s string) {
	p.suspect = p.suspect || redact.Hides(s)
	p.quoted(s)
}

const hexadecimal = "0123456789abcdef"

func (p *printer) quoted(s string) {
	if !utf8.ValidString(s) {
		p.err = fmt.Errorf("%q is not UTF-8", s)
	}
	p.out = append(p.out, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		p.out = append(p.out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			p.out = append(p.out, '\\', c)
		case '\n':
			p.out = append(p.out, '\\', 'n')
		case '\r':
			p.out = append(p.out, '\\', 'r')
		case '\t':
			p.out = append(p.out, '\\', 't')
		default:
			p.out = append(p.out, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&15])
		}
	}
	p.out = append(append(p.out, s[from:]...), '"')
}
