package redact

import (
	"bytes"
	"encoding/base64"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Message copies a message without its secrets. A word replaces each, to show that there is one. contents has the messages in its Anys and
// TypedStructs. Of an Any that is not in contents, only the type is copied.
func Message(m proto.Message, contents decode.Contents) proto.Message {
	c := &copier{contents: contents}
	return c.message(m.ProtoReflect()).Interface()
}

// Place copies a message within a resource, as Message does. The whole message is a secret if a field around it is one.
func Place(at *graph.Place, contents decode.Contents) proto.Message {
	c := &copier{contents: contents}
	if isUnowned(at.Resource) {
		return c.hideMessage(at.Message).Interface()
	}
	for child := at; child.Parent != nil; child = child.Parent {
		around := child.Parent.Message
		fd := around.Descriptor().Fields().ByName(protoreflect.Name(child.Path.Name()))
		if fd != nil && shapeOf(around.Descriptor()).hides(around, fd) {
			return c.hideMessage(at.Message).Interface()
		}
	}
	return c.message(at.Message).Interface()
}

// isUnowned reports whether a patch writes a bare DataSource. Its field is not known, and so not whether it is a secret.
func isUnowned(r *graph.Resource) bool {
	return r.Kind == graph.Patch && r.Message.ProtoReflect().Descriptor().FullName() == dataSource
}

// copier copies messages.
type copier struct {
	contents decode.Contents
	values   []string // the secrets that it has found
	told     apart
}

var wire = proto.MarshalOptions{AllowPartial: true, Deterministic: true}

// value returns the copy of a value of a field, or of an entry of a map field.
type value func(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value

// mapped copies a message. each returns how to copy the values of a field; of a map, those under a key.
func mapped(m protoreflect.Message, each func(fd protoreflect.FieldDescriptor, key string) value) protoreflect.Message {
	out := m.New()
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsList():
			list, f := out.Mutable(fd).List(), each(fd, "")
			for i := range v.List().Len() {
				list.Append(f(fd, v.List().Get(i)))
			}
		case fd.IsMap():
			entries := out.Mutable(fd).Map()
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				entries.Set(k, each(fd, k.String())(fd.MapValue(), v))
				return true
			})
		default:
			out.Set(fd, each(fd, "")(fd, v))
		}
		return true
	})
	return out
}

// message copies a message that is not itself a secret.
func (c *copier) message(m protoreflect.Message) protoreflect.Message {
	md := m.Descriptor()
	switch {
	case md.FullName() == "google.protobuf.Any":
		return c.any(m, c.message)
	case decode.IsTypedStruct(md.FullName()):
		return c.typedStruct(m)
	case isDynamic(md):
		return c.converted(m, byKeys)
	}
	shape := shapeOf(md)
	credential := shape.credential(m)
	return mapped(m, func(fd protoreflect.FieldDescriptor, key string) value {
		switch {
		case shape.has(fd), slices.Contains(shape.maps, fd) && isKey(key, string(fd.Name()), true):
			return c.hide
		case credential && shape.pair.isValue(fd):
			return func(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
				c.told.on = shape.pair.matches
				defer func() { c.told.on = false }()
				return c.hide(fd, v)
			}
		}
		return c.keep
	})
}

// typedStruct copies a TypedStruct. The type that it names says which fields are secrets.
func (c *copier) typedStruct(m protoreflect.Message) protoreflect.Message {
	return mapped(m, func(fd protoreflect.FieldDescriptor, _ string) value {
		if fd.Message() == nil {
			return c.keep
		}
		return func(_ protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
			note := byKeys
			if content := c.contents[v.Message().Interface()]; content != nil {
				note = func(r *redactor, n *tree.Node) { r.message(n, content.ProtoReflect().Descriptor()) }
			}
			return protoreflect.ValueOfMessage(c.converted(v.Message(), note))
		}
	})
}

// any copies an Any with its content. Content that cannot be decoded is left out.
func (c *copier) any(m protoreflect.Message, inside func(protoreflect.Message) protoreflect.Message) protoreflect.Message {
	url, value := m.Descriptor().Fields().ByNumber(1), m.Descriptor().Fields().ByNumber(2)
	out := m.New()
	out.Set(url, m.Get(url))
	if content := c.contents[m.Interface()]; content != nil {
		if raw, err := wire.Marshal(inside(content.ProtoReflect()).Interface()); err == nil {
			out.Set(value, protoreflect.ValueOfBytes(raw))
		}
	}
	return out
}

// keep copies a value whose name does not say that it is a secret.
func (c *copier) keep(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch {
	case fd.Message() != nil:
		return protoreflect.ValueOfMessage(c.message(v.Message()))
	case fd.Kind() == protoreflect.StringKind:
		if inner := inside(v.String(), types.Envoy); inner != nil {
			return protoreflect.ValueOfString(string(inner.apply()))
		}
	case fd.Kind() == protoreflect.BytesKind && looksSecret(v.Bytes()):
		return protoreflect.ValueOfBytes([]byte(Redaction))
	case fd.Kind() == protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(bytes.Clone(v.Bytes()))
	}
	return v
}

// hide copies a value that is a secret, or contains one. Numbers, durations and enums stay, since a word would not be a valid value for them.
func (c *copier) hide(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch {
	case fd.Message() != nil:
		return protoreflect.ValueOfMessage(c.hideMessage(v.Message()))
	case fd.Kind() == protoreflect.StringKind && v.String() != "":
		c.values = append(c.values, v.String())
		return protoreflect.ValueOfString(c.told.word(v.String()))
	case fd.Kind() == protoreflect.BytesKind && len(v.Bytes()) > 0:
		c.values = append(c.values, string(v.Bytes()), base64.StdEncoding.EncodeToString(v.Bytes()))
		return protoreflect.ValueOfBytes([]byte(Redaction))
	}
	return v
}

func (c *copier) hideMessage(m protoreflect.Message) protoreflect.Message {
	switch {
	case m.Descriptor().FullName() == "google.protobuf.Any":
		return c.any(m, c.hideMessage)
	case isDynamic(m.Descriptor()):
		return c.converted(m, func(r *redactor, n *tree.Node) { r.leaves(n, true) })
	}
	return mapped(m, func(fd protoreflect.FieldDescriptor, _ string) value {
		if isPlace(m, fd) {
			return c.keep
		}
		return c.hide
	})
}

// converted copies a Struct or a part of one by way of JSON: only the keys say what is a secret. What cannot be written as JSON is left out.
func (c *copier) converted(m protoreflect.Message, note func(*redactor, *tree.Node)) protoreflect.Message {
	out := m.New()
	text, err := protojson.Marshal(m.Interface())
	if err != nil {
		return out
	}
	docs, err := syntax.ParseJSON(&source.File{Text: text})
	if err != nil || len(docs) != 1 {
		return out
	}
	r := &redactor{text: text, types: types.Envoy}
	note(r, docs[0])
	c.values = append(c.values, r.values...)
	if len(r.edits) == 0 {
		return m
	}
	if protojson.Unmarshal(r.apply(), out.Interface()) != nil {
		return m.New()
	}
	return out
}

func byKeys(r *redactor, n *tree.Node) { r.unknown(n, "") }
