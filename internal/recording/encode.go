package recording

import (
	"bytes"
	"encoding/json"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/asjson"
	"github.com/xdslint/xdslint/internal/decode/types"
)

func encodeRequest(raw []byte, delta bool) (json.RawMessage, error) {
	if delta {
		var q discoveryv3.DeltaDiscoveryRequest
		err := unmarshal.Unmarshal(raw, &q)
		if q.ErrorDetail != nil {
			q.ErrorDetail.Details = nil // of any type
		}
		return encode(&q, err)
	}
	var q discoveryv3.DiscoveryRequest
	err := unmarshal.Unmarshal(raw, &q)
	if q.ErrorDetail != nil {
		q.ErrorDetail.Details = nil
	}
	return encode(&q, err)
}

var unmarshal = proto.UnmarshalOptions{AllowPartial: true}

// encode writes a message, unless it could not be decoded.
func encode(m proto.Message, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	w := asjson.Writer{Types: types.Envoy, Fault: func(string) {}}
	text, err := w.JSON(m)
	if err != nil {
		return nil, err
	}
	if text, err = w.Redacted(text, m.ProtoReflect().Descriptor().FullName()); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Compact(&out, text)
	return out.Bytes(), err
}

// encodeResponse also returns the indices of the resources of which something is left out.
func encodeResponse(raw []byte, delta bool) (text json.RawMessage, leftOut []int, err error) {
	bodies := &readable{}
	bodies.w = asjson.Writer{Types: types.Envoy, Fault: bodies.fault}
	if delta {
		var p discoveryv3.DeltaDiscoveryResponse
		err := unmarshal.Unmarshal(raw, &p)
		for _, r := range p.Resources {
			r.Resource = bodies.next(r.Resource)
		}
		text, err = encode(&p, err)
		return text, bodies.leftOut, err
	}
	var p discoveryv3.DiscoveryResponse
	err = unmarshal.Unmarshal(raw, &p)
	for i, r := range p.Resources {
		p.Resources[i] = bodies.next(r)
	}
	text, err = encode(&p, err)
	return text, bodies.leftOut, err
}

// readable makes the contents of resources such that they can be written.
type readable struct {
	w       asjson.Writer
	count   int
	leftOut []int
}

func (r *readable) next(body *anypb.Any) *anypb.Any {
	r.count++
	if body == nil {
		return nil
	}
	return r.w.Readable(body)
}

func (r *readable) fault(string) {
	if n := len(r.leftOut); n == 0 || r.leftOut[n-1] != r.count-1 {
		r.leftOut = append(r.leftOut, r.count-1)
	}
}
