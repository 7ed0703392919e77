package endpoint

import (
	"fmt"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "drop-overload",
	Severity: lint.Error,
	Summary:  "a policy drops more than all requests, or has several categories of drops",
	Links:    []string{"ClusterImplBase::parseDropOverloadConfig (source/common/upstream/upstream_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		drops := a.GetPolicy().GetDropOverloads()
		if _, ok := clusterOf(at); !ok || len(drops) == 0 {
			return
		}
		at = at.Field("policy")
		if len(drops) > 1 {
			p.Reject(at.Field("drop_overloads"), lint.Rejection{
				Message:  fmt.Sprintf("Envoy accepts only one category of drops, but there are %d", len(drops)),
				Help:     "keep one of them, with the total percentage",
				Upstream: fmt.Sprintf("Cluster drop_overloads config has %d categories. Envoy only support one.", len(drops)),
			})
			return
		}
		part := drops[0].GetDropPercentage()
		whole, ok := map[typev3.FractionalPercent_DenominatorType]uint32{
			typev3.FractionalPercent_HUNDRED: 100, typev3.FractionalPercent_TEN_THOUSAND: 10000, typev3.FractionalPercent_MILLION: 1000000,
		}[part.GetDenominator()]
		if ok && float32(part.GetNumerator())/float32(whole) > 1 {
			p.Reject(at.Item("drop_overloads", 0).Field("drop_percentage"), lint.Rejection{
				Message: fmt.Sprintf("%d of %d requests cannot be dropped", part.GetNumerator(), whole),
				Help:    fmt.Sprintf("write a numerator of at most %d, or a larger denominator", whole),
				Upstream: fmt.Sprintf("Cluster drop_overloads config is invalid. (Numerator %d / Denominator %d). The valid range is 0~1.",
					part.GetNumerator(), whole),
			})
		}
	}),
})
