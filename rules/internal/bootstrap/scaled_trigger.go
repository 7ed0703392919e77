package bootstrap

import (
	"fmt"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "scaled-trigger",
	Severity: lint.Error,
	Summary:  "a scaled trigger's scaling_threshold is not below its saturation_threshold",
	Links:    []string{"ScaledTriggerImpl::create (source/server/overload_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		at = at.Field("overload_manager")
		for i, action := range b.GetOverloadManager().GetActions() {
			checkTriggers(p, at.Item("actions", i), action.GetTriggers())
		}
		for i, point := range b.GetOverloadManager().GetLoadshedPoints() {
			checkTriggers(p, at.Item("loadshed_points", i), point.GetTriggers())
		}
	}),
})

func checkTriggers(p *lint.Pass, at lint.At, triggers []*overloadv3.Trigger) {
	for i, trigger := range triggers {
		s := trigger.GetScaled()
		if s == nil || !(s.GetScalingThreshold() >= s.GetSaturationThreshold()) { // Envoy accepts NaN
			continue
		}
		p.Reject(at.Item("triggers", i).Field("scaled", "saturation_threshold"), lint.Rejection{
			Message: fmt.Sprintf("saturation_threshold is %v, but must be above the scaling_threshold of %v",
				s.GetSaturationThreshold(), s.GetScalingThreshold()),
			Help:     "raise it, or replace scaled by threshold if there is only one threshold",
			Upstream: "scaling_threshold must be less than saturation_threshold",
		})
	}
}
