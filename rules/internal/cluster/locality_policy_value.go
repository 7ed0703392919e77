package cluster

import (
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	localityv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/load_aware_locality/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "locality-policy-value",
	Severity: lint.Error,
	Summary:  "a value of load_aware_locality is out of its range",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/load_balancing_policies/load_aware_locality/v3/load_aware_locality.proto"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		x := p.Target.Extensions()
		for b := envoy.BalancingOf(x, at, c); b.Name != "" && !p.Target.Before("1.40"); b = b.Child(x) { // child-policy: older ones do not implement it
			if m, ok := b.Config.(*localityv3.LoadAwareLocality); ok {
				checkLocalityPolicy(p, b.At, m)
			}
		}
	}),
})

func checkLocalityPolicy(p *lint.Pass, at lint.At, m *localityv3.LoadAwareLocality) {
	reject := func(field, is, rule string) {
		p.Reject(at.Field(field), lint.Rejection{
			Message:  fmt.Sprintf("%s %s", field, is),
			Help:     "write a value in the range, or leave it out",
			Upstream: field + " must be " + rule,
		})
	}
	if v := m.GetWeightUpdatePeriod(); v != nil && v.AsDuration() < 100*time.Millisecond {
		reject("weight_update_period", "is less than 100ms", "at least 100ms")
	}
	if v := m.GetSmoothingTimeConstant(); v != nil && v.AsDuration() < time.Millisecond {
		reject("smoothing_time_constant", "is less than 1ms", "positive")
	}
	if v := m.GetRemoteProbeFraction(); v != nil && !(v.GetValue() >= 0 && v.GetValue() < 1) {
		reject("remote_probe_fraction", "is not a number from 0 to below 1", "in [0, 1)")
	}
	if v := m.GetUtilizationVarianceThreshold(); v != nil && !(v.GetValue() >= 0 && v.GetValue() <= 1) {
		reject("utilization_variance_threshold", "is not a number from 0 to 1", "in [0, 1]")
	}
}
