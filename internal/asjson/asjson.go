// Package asjson writes messages that came over the wire as JSON, although it may not know all types in them, and takes
// the secrets out.
package asjson

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/decode"
)

// Writer writes messages. Fault is called with what is left out, and with the item that it is left out of: an index in
// the list of the message that is written.
type Writer struct {
	Types decode.Types
	Fault func(item int, what string)
}

// JSON writes a message without white space and without secrets, with the field names of the proto. Contents of Anys
// that cannot be decoded, or written as JSON, are left out. It fails if another part of the message cannot be written.
func (w Writer) JSON(m proto.Message) ([]byte, error) {
	p := printer{Writer: w}
	p.message(m.ProtoReflect(), 0)
	if p.err == nil && p.suspect {
		p.redact(0, m.ProtoReflect().Descriptor().FullName())
	}
	return p.out, p.err
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

// Resolver lets protojson read Anys. An unknown type is read as a message without fields. Any such message will do, since
// the type in the text is that of the Any.
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
