package recorder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/asjson"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/redact"
)

func encodeRequest(raw []byte, form protocol.Opened) (json.RawMessage, error) {
	var q interface {
		proto.Message
		GetErrorDetail() *statusv3.Status
	} = &discoveryv3.DiscoveryRequest{}
	if form.Delta {
		q = &discoveryv3.DeltaDiscoveryRequest{}
	}
	if _, err := unmarshal(raw, q, form); err != nil {
		return nil, err
	}
	if reason := q.GetErrorDetail(); reason != nil {
		reason.Details, reason.Message = nil, redact.Error(reason.GetMessage()) // details are of any type
	}
	return asjson.Writer{Types: types.Envoy, Fault: func(int, string) {}}.JSON(q)
}

// encodeResponse also returns the indices of the resources of which something is left out.
func encodeResponse(raw []byte, form protocol.Opened) (text json.RawMessage, leftOut []int, err error) {
	var p proto.Message = &discoveryv3.DiscoveryResponse{}
	if form.Delta {
		p = &discoveryv3.DeltaDiscoveryResponse{}
	}
	whole, err := unmarshal(raw, p, form)
	if err != nil {
		return nil, nil, err
	}
	w := asjson.Writer{Types: types.Envoy, Fault: func(item int, _ string) { leftOut = append(leftOut, item) }}
	text, err = w.JSON(p)
	if polled, ok := p.(*discoveryv3.DiscoveryResponse); ok && !whole {
		leftOut = nil
		for i := range polled.GetResources() {
			leftOut = append(leftOut, i)
		}
	}
	return text, slices.Compact(leftOut), err
}

// unmarshal reads a message, and reports whether it knows all fields and types in it: of JSON, the others are lost.
func unmarshal(raw []byte, m proto.Message, form protocol.Opened) (whole bool, err error) {
	if form.REST {
		return unmarshalJSON(raw, m)
	}
	return true, proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(raw, m)
}

func unmarshalJSON(raw []byte, m proto.Message) (whole bool, err error) {
	o := protojson.UnmarshalOptions{AllowPartial: true, Resolver: asjson.Resolver{Types: types.Envoy}}
	if o.Unmarshal(raw, m) == nil {
		return true, nil
	}
	o.DiscardUnknown = true
	if err := o.Unmarshal(raw, m); err != nil { // the error quotes the text, which can be a secret
		return false, fmt.Errorf("it is not JSON of a %s%s", m.ProtoReflect().Descriptor().Name(), place.FindString(err.Error()))
	}
	return false, nil
}

var place = regexp.MustCompile(` \(line \d+:\d+\)`)
