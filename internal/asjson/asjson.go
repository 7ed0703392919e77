// Package asjson writes messages that came over the wire as JSON, although it may not know all types in them, and takes
// the secrets out.
package asjson

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Writer writes messages. Fault is called with what is left out.
type Writer struct {
	Types decode.Types
	Fault func(string)
}

// JSON writes a message with the field names of the proto. It fails on what JSON cannot represent, such as a time out of
// range.
func (w Writer) JSON(m proto.Message) ([]byte, error) {
	return protojson.MarshalOptions{UseProtoNames: true, AllowPartial: true, Resolver: Resolver{w.Types}}.Marshal(m)
}

// Redacted returns the JSON of a message of that name without secrets.
func (w Writer) Redacted(text []byte, message protoreflect.FullName) ([]byte, error) {
	docs, err := syntax.ParseJSON(&source.File{Text: text})
	if err != nil {
		return nil, err
	}
	return redact.JSON(text, docs[0], message, w.Types), nil
}

// Unpack decodes the content of an Any.
func (w Writer) Unpack(body *anypb.Any) (proto.Message, error) {
	mt, err := w.Types.FindMessageByName(decode.TypeName(body.GetTypeUrl()))
	if err != nil {
		return nil, err
	}
	m := mt.New().Interface()
	return m, proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(body.GetValue(), m)
}

// maxDepth bounds how deep Anys may be nested. It is also xdslint's limit.
const maxDepth = 100

// Readable returns an Any that can be written as JSON: contents that cannot be decoded are left out.
func (w Writer) Readable(body *anypb.Any) *anypb.Any { return w.readable(body, 0) }

func (w Writer) readable(body *anypb.Any, depth int) *anypb.Any {
	m, err := w.Unpack(body)
	if err != nil || depth > maxDepth {
		if len(body.GetValue()) > 0 {
			w.Fault(fmt.Sprintf("the content of a %s is left out: the type is not known, or the bytes cannot be decoded",
				decode.TypeName(body.GetTypeUrl())))
		}
		return &anypb.Any{TypeUrl: body.GetTypeUrl()}
	}
	if !w.clean(m.ProtoReflect(), depth) {
		return body
	}
	raw, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m)
	if err != nil {
		return &anypb.Any{TypeUrl: body.GetTypeUrl()}
	}
	return &anypb.Any{TypeUrl: body.GetTypeUrl(), Value: raw}
}

// clean makes the Anys in a message readable, and reports whether that changed anything.
func (w Writer) clean(m protoreflect.Message, depth int) (changed bool) {
	if len(m.GetUnknown()) > 0 {
		w.Fault(fmt.Sprintf("fields of %s are left out: they are not known, since the server's API is newer", m.Descriptor().FullName()))
	}
	decode.EachMessage(m, func(inner protoreflect.Message, _ tree.Step) {
		if inner.Descriptor().FullName() != anyName {
			changed = w.clean(inner, depth) || changed
			return
		}
		url, value := inner.Descriptor().Fields().ByNumber(1), inner.Descriptor().Fields().ByNumber(2)
		before := &anypb.Any{TypeUrl: inner.Get(url).String(), Value: inner.Get(value).Bytes()}
		if before.GetTypeUrl() == "" {
			return
		}
		if after := w.readable(before, depth+1); after != before {
			inner.Set(value, protoreflect.ValueOfBytes(after.GetValue()))
			changed = true
		}
	})
	return changed
}

const anyName protoreflect.FullName = "google.protobuf.Any"

// Resolver lets protojson write and read Anys. An unknown type is read as a message without fields. Any such message will do, since the type in
// the text is that of the Any.
type Resolver struct{ Types decode.Types }

// FindMessageByURL implements protojson's resolver.
func (r Resolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return r.FindMessageByName(decode.TypeName(url))
}

// FindMessageByName implements protojson's resolver.
func (r Resolver) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if mt, err := r.Types.FindMessageByName(name); err == nil {
		return mt, nil
	}
	return (*corev3.AggregatedConfigSource)(nil).ProtoReflect().Type(), nil
}

// FindExtensionByName implements protojson's resolver.
func (Resolver) FindExtensionByName(protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

// FindExtensionByNumber implements protojson's resolver.
func (Resolver) FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}
