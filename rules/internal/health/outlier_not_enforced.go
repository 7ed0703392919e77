package health

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-not-enforced",
	Severity: lint.Warning,
	Summary:  "an outlier detection has a threshold that ejects nothing, because it is not enforced",
	Links: []string{
		"DetectorImpl::enforceEjection (source/common/upstream/outlier_detection_impl.cc)",
		"https://github.com/envoyproxy/gateway/issues/6985",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if at.Resource().Kind == graph.Patch {
			return // it does not show the runtime, which may enforce
		}
		o, at := c.GetOutlierDetection(), at.Field("outlier_detection")
		for _, t := range []struct {
			field, enforcing string
			idle             bool // the threshold is written, and nothing says whether to enforce it
		}{
			{
				"consecutive_gateway_failure", "enforcing_consecutive_gateway_failure",
				o.GetConsecutiveGatewayFailure() != nil && o.GetEnforcingConsecutiveGatewayFailure() == nil,
			},
			{
				"failure_percentage_threshold", "enforcing_failure_percentage",
				o.GetFailurePercentageThreshold() != nil && o.GetEnforcingFailurePercentage() == nil &&
					o.GetEnforcingFailurePercentageLocalOrigin() == nil,
			},
		} {
			if !t.idle || envoy.RuntimeOf(p.Snapshot).Integer("outlier_detection."+t.enforcing, 0) > 0 {
				continue
			}
			p.Report(at.Field(t.field), lint.Diagnostic{
				Message: fmt.Sprintf("no host is ejected for %s, because %s is missing", t.field, t.enforcing),
				Notes:   []string{fmt.Sprintf("%s is 0 %% by default: Envoy counts the failures and ejects no host", t.enforcing)},
				Help:    fmt.Sprintf("add %s: 100, or 0 to only count", t.enforcing),
				Fixes:   lint.Insert(at, t.enforcing, 100).Likely(fmt.Sprintf("add %s: 100", t.enforcing)),
			})
		}
	}),
})
