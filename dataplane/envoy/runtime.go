package envoy

import (
	"math"
	"strconv"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/graph"
)

// Runtime is the runtime of a snapshot.
type Runtime struct {
	layers []*bootstrapv3.RuntimeLayer
	Known  bool // the snapshot has a bootstrap, and none of its layers comes from the disk
	Fixed  bool // Known, and none of its layers comes over xDS either
}

// RuntimeOf returns the runtime of a snapshot.
func RuntimeOf(s graph.View) Runtime {
	b, _ := s.Bootstrap()
	if b == nil || s.Partial() {
		return Runtime{}
	}
	r := Runtime{layers: b.GetLayeredRuntime().GetLayers(), Known: true, Fixed: true}
	for _, l := range r.layers {
		r.Known = r.Known && l.GetDiskLayer() == nil
		r.Fixed = r.Fixed && l.GetDiskLayer() == nil && l.GetRtdsLayer() == nil
	}
	return r
}

// Integer returns the value of a key that Envoy reads as a number, or otherwise if the key is missing or not a valid number.
func (r Runtime) Integer(key string, otherwise uint64) uint64 {
	var number float64
	switch v := r.find(key).GetKind().(type) {
	case *structpb.Value_NumberValue:
		number = v.NumberValue
	case *structpb.Value_StringValue:
		parsed, err := strconv.ParseFloat(strings.TrimSpace(v.StringValue), 64)
		if err != nil {
			return otherwise
		}
		number = parsed
	default:
		return otherwise
	}
	if !(number >= 0 && number <= math.MaxInt64) {
		return otherwise
	}
	return uint64(number)
}

// Guard returns the value of a feature guard, or otherwise if the key is missing or not a boolean.
func (r Runtime) Guard(key string, otherwise bool) bool {
	switch v := r.find(key).GetKind().(type) {
	case *structpb.Value_BoolValue:
		return v.BoolValue
	case *structpb.Value_NumberValue:
		return v.NumberValue != 0
	case *structpb.Value_StringValue: // Envoy reads a quoted number as a number, but not "false" as a boolean
		if number, err := strconv.ParseFloat(strings.TrimSpace(v.StringValue), 64); err == nil {
			return number != 0
		}
	}
	return otherwise
}

// find returns the value of a key in the last layer that has it.
func (r Runtime) find(key string) (value *structpb.Value) {
	for _, l := range r.layers {
		if v := lookup(l.GetStaticLayer(), key); v != nil {
			value = v
		}
	}
	return value
}

// lookup returns the value of a key. Dots descend into structs: {a: {b: 1}} has the key a.b.
func lookup(s *structpb.Struct, key string) *structpb.Value {
	if v := s.GetFields()[key]; v != nil {
		return v
	}
	for name, v := range s.GetFields() {
		rest, ok := strings.CutPrefix(key, name+".")
		if !ok || v.GetStructValue() == nil {
			continue
		}
		if found := lookup(v.GetStructValue(), rest); found != nil {
			return found
		}
	}
	return nil
}
