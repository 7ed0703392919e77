package recorder

import (
	"encoding/json"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/internal/asjson"
	"github.com/xdslint/xdslint/internal/decode/types"
)

var unmarshal = proto.UnmarshalOptions{AllowPartial: true}

func encodeRequest(raw []byte, delta bool) (json.RawMessage, error) {
	var q interface {
		proto.Message
		GetErrorDetail() *statusv3.Status
	} = &discoveryv3.DiscoveryRequest{}
	if delta {
		q = &discoveryv3.DeltaDiscoveryRequest{}
	}
	if err := unmarshal.Unmarshal(raw, q); err != nil {
		return nil, err
	}
	if reason := q.GetErrorDetail(); reason != nil {
		reason.Details = nil // of any type
	}
	return encode(q)
}

// encodeResponse also returns the indices of the resources of which something is left out.
func encodeResponse(raw []byte, delta bool) (text json.RawMessage, leftOut []int, err error) {
	p, bodies, err := decodeResponse(raw, delta)
	if err != nil {
		return nil, nil, err
	}
	for i, body := range bodies {
		if body != nil && !makeReadable(body) {
			leftOut = append(leftOut, i)
		}
	}
	text, err = encode(p)
	return text, leftOut, err
}

// decodeResponse also returns the bodies of the resources; nil: a resource of Delta that has none.
func decodeResponse(raw []byte, delta bool) (proto.Message, []*anypb.Any, error) {
	if !delta {
		p := &discoveryv3.DiscoveryResponse{}
		err := unmarshal.Unmarshal(raw, p)
		return p, p.GetResources(), err
	}
	p := &discoveryv3.DeltaDiscoveryResponse{}
	err := unmarshal.Unmarshal(raw, p)
	var bodies []*anypb.Any
	for _, r := range p.GetResources() {
		bodies = append(bodies, r.GetResource())
	}
	return p, bodies, err
}

// makeReadable changes an Any such that it can be written, and reports whether nothing is left out.
func makeReadable(body *anypb.Any) (whole bool) {
	whole = true
	w := asjson.Writer{Types: types.Envoy, Fault: func(string) { whole = false }}
	body.Value = w.Readable(body).GetValue()
	return whole
}

// encode writes a message without secrets.
func encode(m proto.Message) (json.RawMessage, error) {
	w := asjson.Writer{Types: types.Envoy, Fault: func(string) {}}
	text, err := w.JSON(m)
	if err != nil {
		return nil, err
	}
	return w.Redacted(text, m.ProtoReflect().Descriptor().FullName())
}
