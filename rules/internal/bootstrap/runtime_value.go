package bootstrap

import (
	"fmt"
	"slices"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "runtime-value",
	Severity: lint.Error,
	Summary:  "a value in a static layer of the runtime is empty or a list",
	Links:    []string{"ProtoLayer::walkProtoValue (source/common/runtime/runtime_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		for i, layer := range b.GetLayeredRuntime().GetLayers() {
			walkValues(p, at.Field("layered_runtime").Item("layers", i).Field("static_layer"), "", layer.GetStaticLayer())
		}
	}),
})

func walkValues(p *lint.Pass, at lint.At, prefix string, s *structpb.Struct) {
	for key, value := range s.GetFields() {
		at, name := at.Field(key), prefix+key
		upstream := "Invalid runtime entry value for " + name
		switch v := value.GetKind().(type) {
		case nil, *structpb.Value_NullValue:
			p.Reject(at.Key(), lint.Rejection{
				Message:  fmt.Sprintf("the runtime key %s does not have a value", name),
				Help:     "write a value, or remove the key",
				Upstream: upstream,
			})
		case *structpb.Value_ListValue:
			p.Reject(at, lint.Rejection{
				Message:  fmt.Sprintf("the runtime key %s has a list", name),
				Help:     "write a number, a string, a boolean or a fraction",
				Upstream: upstream,
			})
		case *structpb.Value_StructValue:
			if !isFraction(v.StructValue) {
				walkValues(p, at, name+".", v.StructValue)
			}
		}
	}
}

func isFraction(s *structpb.Struct) bool {
	return slices.ContainsFunc([]string{"numerator", "denominator"}, func(key string) bool { return s.GetFields()[key] != nil })
}
