package recording

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/asjson"
	"github.com/xdslint/xdslint/internal/decode/types"
)

func encodeRequest(raw []byte, delta bool) (json.RawMessage, error) {
	name := protoreflect.Name("DiscoveryRequest")
	if delta {
		name = "DeltaDiscoveryRequest"
	}
	m, err := message(name, raw)
	if err != nil {
		return nil, err
	}
	if reason := field(m, "error_detail"); m.Has(reason) {
		status := m.Mutable(reason).Message()
		status.Clear(field(status, "details")) // of any type
	}
	return encode(m)
}

// encodeResponse also returns the indices of the resources of which something is left out.
func encodeResponse(raw []byte, delta bool) (text json.RawMessage, leftOut []int, err error) {
	name := protoreflect.Name("DiscoveryResponse")
	if delta {
		name = "DeltaDiscoveryResponse"
	}
	m, err := message(name, raw)
	if err != nil {
		return nil, nil, err
	}
	resources := m.Mutable(field(m, "resources")).List()
	for i := range resources.Len() {
		body := resources.Get(i).Message()
		if delta {
			in := field(body, "resource")
			if !body.Has(in) {
				continue
			}
			body = body.Mutable(in).Message()
		}
		if !makeReadable(body) {
			leftOut = append(leftOut, i)
		}
	}
	text, err = encode(m)
	return text, leftOut, err
}

// message decodes a message of the discovery service. It needs no Go type of it: those import gRPC, which is too large for the browser.
func message(name protoreflect.Name, raw []byte) (protoreflect.Message, error) {
	t, err := types.Envoy.FindMessageByName(protoreflect.FullName("envoy.service.discovery.v3").Append(name))
	if err != nil {
		return nil, err
	}
	m := t.New()
	return m, proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(raw, m.Interface())
}

func field(m protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return m.Descriptor().Fields().ByName(name)
}

// makeReadable changes an Any such that it can be written, and reports whether nothing is left out.
func makeReadable(body protoreflect.Message) (whole bool) {
	whole = true
	w := asjson.Writer{Types: types.Envoy, Fault: func(string) { whole = false }}
	url, value := field(body, "type_url"), field(body, "value")
	readable := w.Readable(&anypb.Any{TypeUrl: body.Get(url).String(), Value: body.Get(value).Bytes()})
	body.Set(value, protoreflect.ValueOfBytes(readable.GetValue()))
	return whole
}

// encode writes a message without secrets.
func encode(m protoreflect.Message) (json.RawMessage, error) {
	w := asjson.Writer{Types: types.Envoy, Fault: func(string) {}}
	text, err := w.JSON(m.Interface())
	if err != nil {
		return nil, err
	}
	if text, err = w.Redacted(text, m.Descriptor().FullName()); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Compact(&out, text)
	return out.Bytes(), err
}
