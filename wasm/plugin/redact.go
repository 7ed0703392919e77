package plugin

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/internal/redact"
)

// redactor copies messages without the secrets in them: what a plugin sees may end up in a finding. Where a secret was there is a word in its place, so
// that a rule can still tell that there is one. It follows redact.Redact, which does so with JSON.
type redactor struct {
	contents decode.Contents
	hidden   map[string]bool // secrets that were met
}

func newRedactor(contents decode.Contents) *redactor {
	return &redactor{contents: contents, hidden: map[string]bool{}}
}

// place copies a message that stands somewhere in a resource: as a secret where a field around it is one.
func (r *redactor) place(at *graph.Place) protoreflect.Message {
	for child := at; child.Parent != nil; child = child.Parent {
		around := child.Parent.Message.Descriptor()
		if fd := around.Fields().ByName(protoreflect.Name(child.Path.Name())); fd != nil && slices.Contains(redact.Fields(around), fd) {
			return r.hideMessage(at.Message)
		}
	}
	return r.message(at.Message)
}

// value makes another value of one that stands in a field, or under a key of a map field.
type value func(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value

// mapped copies a message; each says what to do with the values of a field, and with those under a key where it is a map.
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

// message copies one that is no secret itself.
func (r *redactor) message(m protoreflect.Message) protoreflect.Message {
	md := m.Descriptor()
	switch name := md.FullName(); {
	case name == "google.protobuf.Any":
		return r.any(m, r.message)
	case decode.IsTypedStruct(name):
		if content := r.contents[m.Get(md.Fields().ByName("value")).Message().Interface()]; content != nil {
			r.message(content.ProtoReflect()) // notes the secrets, which stand in the Struct too
		}
	case name == "google.protobuf.Struct":
		return r.structure(m, "")
	}
	sensitive := redact.Fields(md)
	header := isCredential(m)
	return mapped(m, func(fd protoreflect.FieldDescriptor, key string) value {
		switch {
		case slices.Contains(sensitive, fd), header && fd.Name() != "key", redact.Key(key, string(fd.Name()), fd.IsMap() && fd.MapValue().Kind() == protoreflect.StringKind):
			return r.hide
		}
		return r.keep
	})
}

// isCredential tells a header whose value is a secret.
func isCredential(m protoreflect.Message) bool {
	fields := m.Descriptor().Fields()
	if m.Descriptor().FullName() != redact.HeaderValue {
		return false
	}
	value := m.Get(fields.ByName("value")).String() + string(m.Get(fields.ByName("raw_value")).Bytes())
	return redact.Header(m.Get(fields.ByName("key")).String(), value)
}

// any copies an Any with what it holds. What nobody can open stays behind.
func (r *redactor) any(m protoreflect.Message, inside func(protoreflect.Message) protoreflect.Message) protoreflect.Message {
	url, value := m.Descriptor().Fields().ByNumber(1), m.Descriptor().Fields().ByNumber(2)
	out := m.New()
	out.Set(url, m.Get(url))
	if content := r.contents[m.Interface()]; content != nil {
		if raw, err := wire.Marshal(inside(content.ProtoReflect()).Interface()); err == nil {
			out.Set(value, protoreflect.ValueOfBytes(raw))
		}
	}
	return out
}

// keep copies a value of which no name says that it is a secret.
func (r *redactor) keep(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch {
	case fd.Message() != nil:
		return protoreflect.ValueOfMessage(r.message(v.Message()))
	case fd.Kind() == protoreflect.StringKind:
		return protoreflect.ValueOfString(redact.Scrub(v.String(), redact.Redaction))
	case fd.Kind() == protoreflect.BytesKind && redact.Looks(v.Bytes()):
		return protoreflect.ValueOfBytes([]byte(redact.Redaction))
	case fd.Kind() == protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(bytes.Clone(v.Bytes()))
	}
	return v
}

// hide copies a value that is a secret, or has it in it. Numbers, durations and enums stay: a word in their place would be no value.
func (r *redactor) hide(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch {
	case fd.Message() != nil:
		return protoreflect.ValueOfMessage(r.hideMessage(v.Message()))
	case fd.Kind() == protoreflect.StringKind && v.String() != "":
		r.hidden[v.String()] = true
		return protoreflect.ValueOfString(redact.Redaction)
	case fd.Kind() == protoreflect.BytesKind && len(v.Bytes()) > 0:
		r.hidden[base64.StdEncoding.EncodeToString(v.Bytes())] = true
		return protoreflect.ValueOfBytes([]byte(redact.Redaction))
	}
	return v
}

func (r *redactor) hideMessage(m protoreflect.Message) protoreflect.Message {
	name := m.Descriptor().FullName()
	if name == "google.protobuf.Any" {
		return r.any(m, r.hideMessage)
	}
	return mapped(m, func(fd protoreflect.FieldDescriptor, _ string) value {
		if name == redact.DataSource && !strings.HasPrefix(string(fd.Name()), "inline_") {
			return r.keep // it says where the secret is
		}
		return r.hide
	})
}

// structure copies a Struct, in which only the keys say what is a secret; under is the key that it stands under.
func (r *redactor) structure(m protoreflect.Message, under string) protoreflect.Message {
	return mapped(m, func(_ protoreflect.FieldDescriptor, key string) value {
		return func(_ protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
			return protoreflect.ValueOfMessage(r.structValue(v.Message(), key, under))
		}
	})
}

func (r *redactor) structValue(m protoreflect.Message, key, under string) protoreflect.Message {
	return mapped(m, func(fd protoreflect.FieldDescriptor, _ string) value {
		return func(_ protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
			secretive := redact.Key(key, under, fd.Kind() == protoreflect.StringKind)
			switch {
			case secretive && !redact.IsPlace(key), fd.Kind() == protoreflect.StringKind && r.hidden[v.String()]:
				return r.hide(fd, v)
			case fd.Message() == nil:
				return r.keep(fd, v)
			case fd.Name() == "struct_value":
				return protoreflect.ValueOfMessage(r.structure(v.Message(), key))
			}
			return protoreflect.ValueOfMessage(mapped(v.Message(), func(protoreflect.FieldDescriptor, string) value { // a list
				return func(_ protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
					return protoreflect.ValueOfMessage(r.structValue(v.Message(), key, under))
				}
			}))
		}
	})
}
