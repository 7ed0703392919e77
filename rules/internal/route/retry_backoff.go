package route

import (
	"fmt"
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "retry-backoff",
	Severity: lint.Error,
	Summary:  "the max_interval of a retry policy is shorter than its base_interval",
	Links:    []string{"RetryPolicyImpl::RetryPolicyImpl (source/common/router/retry_policy_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RetryPolicy) {
		switch holder(at) {
		case "envoy.config.route.v3.RouteAction.retry_policy", "envoy.config.route.v3.VirtualHost.retry_policy":
		default:
			return
		}
		backOff := m.GetRetryBackOff()
		if backOff.GetBaseInterval() == nil || backOff.GetMaxInterval() == nil {
			return
		}
		base, longest := backOff.GetBaseInterval().AsDuration(), backOff.GetMaxInterval().AsDuration()
		if base <= 0 || longest <= 0 || atLeastOne(longest) >= atLeastOne(base) {
			return // an interval that is not positive violates a constraint
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		p.Reject(at.Field("retry_back_off", "max_interval"), lint.Rejection{
			Message:  fmt.Sprintf("max_interval %s is shorter than base_interval %s", longest, base),
			Help:     "write a max_interval of at least " + base.String() + ", or remove it to use ten times the base_interval",
			Upstream: "retry_policy.max_interval must greater than or equal to the base_interval",
			Related:  []lint.Related{lint.RelatedTo(at.Field("retry_back_off", "base_interval"), "the base_interval")},
		})
	}),
})

// atLeastOne rounds a duration as Envoy does: to whole milliseconds, at least one.
func atLeastOne(d time.Duration) int64 {
	return max(d.Milliseconds(), 1)
}
