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
	Why: `A host is ejected for ` + "`base_ejection_time`" + ` times the number of its ejections in a row, up to ` + "`max_ejection_time`" + `. Envoy refuses a maximum below the first of these
times (` + "`DetectorImpl::create`" + `). The base is 30 s unless set, so a lone ` + "`max_ejection_time: 10s`" + ` is refused too; a lone base of more than the default maximum of 300 s is not.`,
	Links: []string{"DetectorImpl::create (source/common/upstream/outlier_detection_impl.cc)"},
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
		p.Refuse(at.Field("outlier_detection", "max_ejection_time"), fmt.Sprintf("max_ejection_time %s is shorter than base_ejection_time (%s%s)", limit, base, set),
			fmt.Sprintf("write a base_ejection_time of at most %s, or a longer max_ejection_time", limit), "outlier detector's max_ejection_time cannot be smaller than base_ejection_time")
	}),
})
