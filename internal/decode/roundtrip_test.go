package decode_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

var roots = []protoreflect.FullName{
	"envoy.config.cluster.v3.Cluster", "envoy.config.listener.v3.Listener", "envoy.config.route.v3.RouteConfiguration",
	"envoy.config.bootstrap.v3.Bootstrap", "envoy.config.endpoint.v3.ClusterLoadAssignment",
	"envoy.extensions.transport_sockets.tls.v3.Secret", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
}

var contents = []protoreflect.FullName{
	"envoy.extensions.filters.http.router.v3.Router", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
	"google.protobuf.Duration", "google.protobuf.StringValue", "google.protobuf.Struct", "google.protobuf.Empty",
}

// TestRoundTrip: all encodings of a message are read as that message.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := random(t, rapid.SampledFrom(roots).Draw(t, "root"), 5)
		text, err := protojson.MarshalOptions{UseProtoNames: rapid.Bool().Draw(t, "snake_case"), AllowPartial: true}.Marshal(want)
		if err != nil {
			t.Skip(err) // a message without a JSON form
		}
		proto2, err := prototext.MarshalOptions{Multiline: rapid.Bool().Draw(t, "lines"), AllowPartial: true}.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := proto.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		same(t, want, decode.JSON, syntax.ParseJSON, text)
		same(t, want, decode.YAML, syntax.ParseYAML, escaped(string(text)))
		same(t, want, decode.YAML, syntax.ParseYAML, escaped(block(t, text)))
		if _, err := syntax.ParseProtoText(&source.File{Text: proto2}); err != nil {
			t.Fatalf("%v:\n%s", err, proto2)
		}
		got := want.ProtoReflect().New().Interface()
		if err := decode.NewDecoder(nil).DecodeBinary(wire, got); err != nil || !proto.Equal(want, got) {
			t.Fatalf("binary: %v", err)
		}
	})
}

func same(t *rapid.T, want proto.Message, format decode.Format, parse func(*source.File) ([]*tree.Node, error), text []byte) {
	t.Helper()
	docs, err := parse(&source.File{Text: text})
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v:\n%s", len(docs), err, text)
	}
	d := decode.NewDecoder(nil)
	d.Format = format
	got := want.ProtoReflect().New().Interface()
	d.Decode(docs[0], got)
	for _, p := range d.Problems {
		t.Fatalf("%s: %s\n%s", p.Path, p.Message, text)
	}
	if !proto.Equal(want, got) {
		t.Fatalf("read as\n%s\n%s", prototext.Format(got), text)
	}
}

// escaped escapes all but ASCII: YAML folds the line breaks of Unicode, and takes no control characters.
func escaped(text string) []byte {
	var b []byte
	for _, r := range text {
		switch {
		case r < 0x7f:
			b = append(b, byte(r))
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
	}
	return b
}

// block writes JSON as YAML's block style.
func block(t *rapid.T, text []byte) string {
	var value any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	writeBlock(&b, value, 0)
	return b.String()
}

func writeBlock(b *strings.Builder, value any, indent int) {
	pad := "\n" + strings.Repeat("  ", indent)
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString(" {}")
		}
		for key, inner := range v {
			quoted, _ := json.Marshal(key)
			fmt.Fprintf(b, "%s%s:", pad, quoted)
			writeBlock(b, inner, indent+1)
		}
	case []any:
		if len(v) == 0 {
			b.WriteString(" []")
		}
		for _, inner := range v {
			b.WriteString(pad + "-")
			writeBlock(b, inner, indent+1)
		}
	default:
		quoted, _ := json.Marshal(v)
		b.WriteString(" " + string(quoted))
	}
}

func random(t *rapid.T, name protoreflect.FullName, depth int) proto.Message {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if err != nil {
		t.Fatal(err)
	}
	m := mt.New()
	fill(t, m, depth)
	return m.Interface()
}

func fill(t *rapid.T, m protoreflect.Message, depth int) {
	switch typed := m.Interface().(type) {
	case *anypb.Any:
		content := random(t, rapid.SampledFrom(contents).Draw(t, "content"), depth-1)
		raw, err := (proto.MarshalOptions{Deterministic: true, AllowPartial: true}).Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		typed.TypeUrl, typed.Value = "type.googleapis.com/"+string(content.ProtoReflect().Descriptor().FullName()), raw
		return
	case *structpb.Value:
		typed.Kind = &structpb.Value_StringValue{StringValue: rapid.String().Draw(t, "value")}
		return
	}
	fields := m.Descriptor().Fields()
	wellKnown := m.Descriptor().ParentFile().Package() == "google.protobuf"
	for range min(fields.Len(), 3) {
		fd := fields.Get(rapid.IntRange(0, fields.Len()-1).Draw(t, "field"))
		if oneof := fd.ContainingOneof(); oneof != nil && m.WhichOneof(oneof) != nil || fd.Message() != nil && (depth <= 0 || fd.Message().FullName() == "google.protobuf.FieldMask" || fd.Message().FullName() == "google.protobuf.Timestamp") {
			continue
		}
		switch {
		case fd.IsMap():
			key := element(t, fd.MapKey(), false).MapKey()
			if fd.MapValue().Message() != nil {
				fill(t, m.Mutable(fd).Map().Mutable(key).Message(), depth-1)
			} else {
				m.Mutable(fd).Map().Set(key, element(t, fd.MapValue(), false))
			}
		case fd.IsList() && fd.Message() != nil:
			fill(t, m.Mutable(fd).List().AppendMutable().Message(), depth-1)
		case fd.IsList():
			m.Mutable(fd).List().Append(element(t, fd, false))
		case fd.Message() != nil:
			fill(t, m.Mutable(fd).Message(), depth-1)
		default:
			m.Set(fd, element(t, fd, wellKnown))
		}
	}
}

// element is a scalar. Those of a Duration have to be small, and of the same sign.
func element(t *rapid.T, fd protoreflect.FieldDescriptor, small bool) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(strings.ToValidUTF8(rapid.String().Draw(t, "string"), ""))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.EnumKind:
		values := fd.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(rapid.IntRange(0, values.Len()-1).Draw(t, "enum")).Number())
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(0 + rapid.Float32Range(-1e30, 1e30).Draw(t, "float"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(0 + rapid.Float64Range(-1e300, 1e300).Draw(t, "double")) // YAML has no -0
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		if small {
			return protoreflect.ValueOfInt32(rapid.Int32Range(0, 999_999_999).Draw(t, "nanos"))
		}
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int32"))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "uint32"))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, "uint64"))
	}
	if small {
		return protoreflect.ValueOfInt64(rapid.Int64Range(0, 300_000_000_000).Draw(t, "seconds"))
	}
	return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, "int64"))
}
