package health

import (
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-times",
	Severity: lint.Error,
	Summary:  "the max_ejection_time of an outlier detection is shorter than its base_ejection_time",
	Links:    []string{"DetectorImpl::create (source/common/upstream/outlier_detection_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		o := c.GetOutlierDetection()
		if o.GetMaxEjectionTime() == nil {
			return
		}
		base, set := 30*time.Second, ""
		if o.GetBaseEjectionTime() == nil {
			set = ", the default"
		} else {
			base = o.GetBaseEjectionTime().AsDuration()
		}
		limit := o.GetMaxEjectionTime().AsDuration()
		if limit.Milliseconds() >= base.Milliseconds() {
			return
		}
		p.Reject(at.Field("outlier_detection", "max_ejection_time"), lint.Rejection{
			Message:  fmt.Sprintf("max_ejection_time %s is shorter than base_ejection_time (%s%s)", limit, base, set),
			Help:     fmt.Sprintf("write a base_ejection_time of at most %s, or a longer max_ejection_time", limit),
			Upstream: "outlier detector's max_ejection_time cannot be smaller than base_ejection_time",
		})
	}),
})
