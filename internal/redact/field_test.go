package redact_test

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
)

// sensitiveFields are all fields of Envoy's API that hold secrets.
var sensitiveFields = sync.OnceValue(func() (all []protoreflect.FieldDescriptor) {
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		if _, err := types.Envoy.FindMessageByName(mt.Descriptor().FullName()); err != nil {
			return true
		}
		for i := range mt.Descriptor().Fields().Len() {
			if fd := mt.Descriptor().Fields().Get(i); redact.Sensitive(fd) {
				all = append(all, fd)
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.FullName(), b.FullName()) })
	return all
})

// sower puts a secret into a field of a message, and into all texts below that.
type sower struct {
	secret   string
	bytes    bool
	contents decode.Contents
}

func (p *sower) planted(t *testing.T, fd protoreflect.FieldDescriptor) proto.Message {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(fd.ContainingMessage().FullName())
	if err != nil {
		t.Fatal(err)
	}
	m := mt.New()
	p.plant(m, fd, 0)
	return m.Interface()
}

func (p *sower) plant(m protoreflect.Message, fd protoreflect.FieldDescriptor, depth int) {
	one := func(fd protoreflect.FieldDescriptor, empty protoreflect.Value) protoreflect.Value {
		switch {
		case fd.Kind() == protoreflect.StringKind:
			return protoreflect.ValueOfString(p.secret)
		case fd.Kind() == protoreflect.BytesKind:
			return protoreflect.ValueOfBytes([]byte(p.secret))
		case fd.Message() == nil:
			return empty
		}
		inner := empty.Message()
		switch into := inner.Interface().(type) {
		case *anypb.Any:
			p.contents[into] = wrapperspb.String(p.secret)
			_ = into.MarshalFrom(p.contents[into])
			return empty
		case *corev3.DataSource:
			into.Specifier = &corev3.DataSource_InlineString{InlineString: p.secret}
			if p.bytes {
				into.Specifier = &corev3.DataSource_InlineBytes{InlineBytes: []byte(p.secret)}
			}
			return empty
		}
		for i := range inner.Descriptor().Fields().Len() {
			if below := inner.Descriptor().Fields().Get(i); depth < 3 && below.ContainingOneof() == nil {
				p.plant(inner, below, depth+1)
			}
		}
		return empty
	}
	switch {
	case fd.IsMap():
		entries := m.Mutable(fd).Map()
		entries.Set(protoreflect.ValueOfString("a").MapKey(), one(fd.MapValue(), entries.NewValue()))
	case fd.IsList():
		list := m.Mutable(fd).List()
		list.Append(one(fd, list.NewElement()))
	default:
		m.Set(fd, one(fd, m.NewField(fd)))
	}
}

// hidesField looks at each face of a message with a secret.
func hidesField(t *testing.T, fd protoreflect.FieldDescriptor, m proto.Message, contents decode.Contents, secret string) {
	shown := func(face, text string) {
		if strings.Contains(text, "S3CRET") || strings.Contains(text, "UzNDUkVU") {
			t.Errorf("%s: %s shows %q: %q", fd.FullName(), face, secret, text)
		}
	}
	raw, err := proto.Marshal(redact.Message(m, contents))
	if err != nil {
		t.Fatal(err)
	}
	shown("Message", string(raw))
	text, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	shown("JSON", string(ofJSON(t, text, m.ProtoReflect().Descriptor().FullName())))
	typed := append([]byte(`{"@type": "a/`+string(m.ProtoReflect().Descriptor().FullName())+`", `), text[1:]...)
	for _, name := range []string{"x.json", "x.yaml"} {
		clean, _ := redact.Text(name, typed, types.Envoy)
		shown("Text", string(clean))
	}
	file := &source.File{Name: "x"}
	r := &graph.Resource{Message: m, File: file, Contents: contents}
	shown("a report", redact.NewFiles(slices.Values([]*graph.Resource{r})).Of(file).Text("it is "+secret+"."))
}

func hidesEverywhere(t *testing.T, fd protoreflect.FieldDescriptor, secret string, bytes bool) {
	p := &sower{secret, bytes, decode.Contents{}}
	m := p.planted(t, fd)
	hidesField(t, fd, m, p.contents, secret)
	packed, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	p.contents[packed] = m
	hidesField(t, fd, &corev3.TypedExtensionConfig{Name: "x", TypedConfig: packed}, p.contents, secret)
}

// TestSensitiveFields: of each field that holds a secret, no face shows it.
func TestSensitiveFields(t *testing.T) {
	for _, fd := range sensitiveFields() {
		hidesEverywhere(t, fd, "S3CRET-in-a-field", false)
		hidesEverywhere(t, fd, "S3CRET-in-a-field", true)
	}
	if n := len(sensitiveFields()); n < 30 {
		t.Errorf("only %d fields", n)
	}
}

// Whatever the secret is, and whichever field it is in, no face shows it.
func FuzzSensitiveFields(f *testing.F) {
	for _, seed := range []string{"-plain", " \" quoted \\ ", "\nkey: |\n  # of lines\n", "%FORMATTER(x)%", "[redacted]", "{\"a\": 1}", "\u2028\x00"} {
		f.Add(uint16(0), seed, true)
		f.Add(uint16(17), seed, false)
	}
	f.Fuzz(func(t *testing.T, field uint16, secret string, bytes bool) {
		if utf8.ValidString(secret) && len(secret) < 1000 {
			hidesEverywhere(t, sensitiveFields()[int(field)%len(sensitiveFields())], "S3CRET"+secret+"-S3CRET", bytes)
		}
	})
}
