package decode

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/tree"
)

// any reads {"@type": …, fields…} into the Any's bytes, and keeps the message.
func (d *Decoder) any(n *tree.Node, m fields.Message, depth int) {
	if n.Kind != tree.Map {
		d.problem(BadAny, n, `%s where a map with an "@type" is expected`, n.Kind)
		return
	}
	if len(n.Keys) == 0 && d.Format != Jsonpb {
		return
	}
	url := n.Get("@type")
	if url == nil || url.Kind != tree.String || url.Text == "" {
		d.problem(BadAny, n, `there is no "@type" here, so the type of this message is not known`)
		return
	}
	d.checkURL(n, url)
	p := planOf(m.Descriptor())
	m.Put(&p.numbered(1).Field, protoreflect.ValueOfString(url.Text))
	content := d.content(url)
	if content == nil {
		return
	}
	inner := fields.In(content.ProtoReflect())
	if wellKnown[inner.Descriptor().FullName()] == nil {
		d.fields(n, inner, depth, true)
	} else {
		d.wellKnownContent(n, inner, depth)
	}
	d.remember(m.Interface(), content)
	if bytes, err := anyBytes.Marshal(content); err == nil {
		m.Set(p.numbered(2).FieldDescriptor, protoreflect.ValueOfBytes(bytes))
	}
	d.typedStruct(n, inner.Message, depth)
}

var anyBytes = proto.MarshalOptions{AllowPartial: true, Deterministic: true}

// wellKnownContent reads {"@type": …, "value": …}: messages with a special JSON form have it under "value".
func (d *Decoder) wellKnownContent(n *tree.Node, content fields.Message, depth int) {
	for i := range n.Keys {
		if key := n.Keys[i]; key.Name != "@type" && key.Name != "value" {
			d.problem(BadAny, &n.Items[i], `a %s in an Any can only have an "@type" and a "value"`, content.Descriptor().FullName()).Span = key.Span()
		}
	}
	if value := n.Get("value"); value != nil && value.Kind != tree.Null {
		d.message(value, content, depth+1)
	}
}

// checkURL reports what Envoy rejects in an "@type", independently of the type.
func (d *Decoder) checkURL(n, url *tree.Node) {
	if slash := strings.LastIndexByte(url.Text, '/'); slash <= 0 {
		d.problem(BadAny, url, `the "@type" %q lacks "type.googleapis.com/" before the message's name`, url.Text).Name = url.Text
	}
	if d.Format != JSON {
		return
	}
	for i := range n.Keys {
		if n.Keys[i].Name == "@type" && &n.Items[i] != url {
			d.duplicateKey(&n.Keys[i], &n.Items[i], false)
		}
	}
}

func (d *Decoder) remember(holder, content proto.Message) {
	if d.Contents == nil {
		d.Contents = Contents{}
	}
	d.Contents[holder] = content
}

// content returns an empty message of the type that a type URL names.
func (d *Decoder) content(url *tree.Node) proto.Message {
	mt := d.Find(url)
	if mt == nil {
		return nil
	}
	return mt.New().Interface()
}

// Find returns the message type that a type URL names. An unknown type becomes a Problem, and so does a v2 type.
func (d *Decoder) Find(url *tree.Node) protoreflect.MessageType {
	name := TypeName(url.Text)
	mt, err := d.Types.FindMessageByName(name)
	if err == nil {
		return mt
	}
	if successor, old := v3Name(name); old {
		p := d.problem(OldType, url, "%q is a type of xDS v2, which no supported Envoy accepts", name)
		if p.Name = string(name); successor != "" {
			p.Message += ": in v3 it is " + string(successor)
		}
		return nil
	}
	d.problem(UnknownType, url, "the type %q is not known", name).Name = url.Text
	return nil
}

// TypeName returns the message's name in a type URL: the part after the last slash.
func TypeName(url string) protoreflect.FullName {
	return protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:])
}

// typedStruct decodes the message in a TypedStruct. Envoy writes its value as JSON and reads that as the named type
// (config/utility.cc, translateOpaqueConfig). N is the map of the TypedStruct's own fields, or nil for binary input.
func (d *Decoder) typedStruct(n *tree.Node, m protoreflect.Message, depth int) {
	if !IsTypedStruct(m.Descriptor().FullName()) {
		return
	}
	own := m.Descriptor().Fields()
	holder := own.ByName("value")
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
		url = &tree.Node{Kind: tree.String, Text: m.Get(own.ByName("type_url")).String()}
	}
	if url.Text == "" {
		return
	}
	d.enter(tree.ToField("type_url"))
	content := d.content(url)
	d.leave()
	if content == nil {
		d.Problems[len(d.Problems)-1].Carried = true
		return
	}
	inner := *d // Envoy writes a Struct as JSON, which has no duplicate keys
	inner.Format, inner.Problems = YAML, nil
	inner.enter(tree.ToField("value"))
	inner.fields(value, fields.In(content.ProtoReflect()), depth+1, false)
	for _, p := range inner.Problems {
		if p.Carried = true; p.Kind != DuplicateKey {
			d.Problems = append(d.Problems, p)
		}
	}
	d.Contents, d.Seen = inner.Contents, inner.Seen
	d.remember(m.Get(holder).Message().Interface(), content)
}

// IsTypedStruct reports whether a message type carries another message as a Struct.
func IsTypedStruct(name protoreflect.FullName) bool {
	return name == "udpa.type.v1.TypedStruct" || name == "xds.type.v3.TypedStruct"
}
