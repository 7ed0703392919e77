package decode

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/tree"
)

// any reads {"@type": …, fields…} into the Any's bytes, and remembers the message.
func (d *Decoder) any(n *tree.Node, m protoreflect.Message, at *tree.Path, depth int) {
	if n.Kind != tree.Map {
		d.problem(BadAny, n, at, `%s stands where a map with an "@type" belongs`, n.Kind)
		return
	}
	if len(n.Keys) == 0 && d.Format != Jsonpb {
		return
	}
	url := n.Get("@type")
	if url == nil || url.Kind != tree.String || url.Text == "" {
		d.problem(BadAny, n, at, `there is no "@type" here, so nobody knows what these fields mean`)
		return
	}
	d.checkURL(n, url, at)
	fields := m.Descriptor().Fields()
	m.Set(fields.ByNumber(1), protoreflect.ValueOfString(url.Text))
	content := d.content(url, at)
	if content == nil {
		return
	}
	inner := content.ProtoReflect()
	if wellKnown[inner.Descriptor().FullName()] == nil {
		d.fields(n, inner, at, depth, true)
	} else {
		d.wellKnownContent(n, inner, at, depth)
	}
	d.remember(m.Interface(), content)
	if bytes, err := anyBytes.Marshal(content); err == nil {
		m.Set(fields.ByNumber(2), protoreflect.ValueOfBytes(bytes))
	}
	d.typedStruct(n, inner, at, depth)
}

var anyBytes = proto.MarshalOptions{AllowPartial: true, Deterministic: true}

// wellKnownContent reads {"@type": …, "value": …}: messages with a JSON form of their own have it under "value".
func (d *Decoder) wellKnownContent(n *tree.Node, content protoreflect.Message, at *tree.Path, depth int) {
	for i := range n.Keys {
		if key := n.Keys[i]; key.Name != "@type" && key.Name != "value" {
			d.problem(BadAny, &n.Items[i], at, `beside the "@type" of a %s there can only be a "value"`, content.Descriptor().FullName()).Span = key.Span()
		}
	}
	if value := n.Get("value"); value != nil && value.Kind != tree.Null {
		d.message(value, content, at, depth+1)
	}
}

// checkURL finds what Envoy refuses about an "@type", whatever it names.
func (d *Decoder) checkURL(n, url *tree.Node, at *tree.Path) {
	if slash := strings.LastIndexByte(url.Text, '/'); slash <= 0 {
		d.problem(BadAny, url, at, `the "@type" %q lacks what stands before the message's name: "type.googleapis.com/"`, url.Text).Name = url.Text
	}
	if d.Format != JSON {
		return
	}
	for i := range n.Keys {
		if n.Keys[i].Name == "@type" && &n.Items[i] != url {
			d.duplicateKey(&n.Keys[i], &n.Items[i], at, false)
		}
	}
}

func (d *Decoder) remember(holder, content proto.Message) {
	if d.Contents == nil {
		d.Contents = Contents{}
	}
	d.Contents[holder] = content
}

// content makes an empty message of the type that a type URL names.
func (d *Decoder) content(url *tree.Node, at *tree.Path) proto.Message {
	mt := d.Find(url, at)
	if mt == nil {
		return nil
	}
	return mt.New().Interface()
}

// Find returns the message type that a type URL names. What is not known becomes a Problem, and so does a v2 type.
func (d *Decoder) Find(url *tree.Node, at *tree.Path) protoreflect.MessageType {
	name := TypeName(url.Text)
	mt, err := d.Types.FindMessageByName(name)
	if err == nil {
		return mt
	}
	if successor, old := v3Name(name); old {
		p := d.problem(OldType, url, at, "%q is a type of xDS v2, which no supported Envoy knows", name)
		if p.Name = string(name); successor != "" {
			p.Message += ": in v3 it is " + string(successor)
		}
		return nil
	}
	d.problem(UnknownType, url, at, "the type %q is not known", name).Name = url.Text
	return nil
}

// TypeName is the message's name in a type URL: what stands behind the last slash.
func TypeName(url string) protoreflect.FullName {
	return protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:])
}

// typedStruct decodes what a TypedStruct stands for: Envoy makes JSON of its value and reads that as the type it names
// (config/utility.cc, translateOpaqueConfig). n is the map of the TypedStruct's own fields; nil for binary input.
func (d *Decoder) typedStruct(n *tree.Node, m protoreflect.Message, at *tree.Path, depth int) {
	if !IsTypedStruct(m.Descriptor().FullName()) {
		return
	}
	fields := m.Descriptor().Fields()
	holder := fields.ByName("value")
	if !m.Has(holder) {
		return
	}
	var value, url *tree.Node
	if n != nil {
		value, url = n.Field("value"), n.Field("type_url")
	}
	if value == nil || value.Kind != tree.Map {
		value = structNode(m.Get(holder).Message())
	}
	if url == nil {
		url = &tree.Node{Kind: tree.String, Text: m.Get(fields.ByName("type_url")).String()}
	}
	if url.Text == "" {
		return
	}
	content := d.content(url, at.Field("type_url"))
	if content == nil {
		d.Problems[len(d.Problems)-1].Carried = true
		return
	}
	inner := *d // Envoy makes JSON of a Struct, in which no key stands twice
	inner.Format, inner.Problems = YAML, nil
	inner.fields(value, content.ProtoReflect(), at.Field("value"), depth+1, false)
	for _, p := range inner.Problems {
		if p.Carried = true; p.Kind != DuplicateKey {
			d.Problems = append(d.Problems, p)
		}
	}
	d.Contents, d.Seen = inner.Contents, inner.Seen
	d.remember(m.Get(holder).Message().Interface(), content)
}

// IsTypedStruct tells the messages that carry another one as a Struct.
func IsTypedStruct(name protoreflect.FullName) bool {
	return name == "udpa.type.v1.TypedStruct" || name == "xds.type.v3.TypedStruct"
}
