package health

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-eject-all",
	Severity: lint.Info,
	Summary:  "outlier detection may eject all hosts, and then no request reaches one",
	Links: []string{
		"DetectorImpl::ejectHost (source/common/upstream/outlier_detection_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/panic_threshold",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		o := c.GetOutlierDetection()
		limit := envoy.RuntimeOf(p.Snapshot).Integer("outlier_detection.max_ejection_percent", orDefault(o.GetMaxEjectionPercent(), 10))
		if o == nil || limit < 100 || onlyCounts(o) || envoy.Panics(p.Snapshot, c) || !onePriority(p, at, c) {
			return
		}
		p.Report(at.Field("outlier_detection", "max_ejection_percent"), lint.Diagnostic{
			Message: fmt.Sprintf("if all hosts of cluster %q fail for a moment, its requests fail for as long as they are ejected", c.GetName()),
			Notes:   []string{"healthy_panic_threshold is 0, so Envoy answers 503 instead of trying ejected hosts"},
			Help:    "write a max_ejection_percent below 100, so that Envoy keeps using some of the hosts",
		})
	}),
})

// onePriority reports whether the hosts of a cluster are known, and requests have no other priority to go to.
func onePriority(p *lint.Pass, at lint.At, c *clusterv3.Cluster) bool {
	a := envoy.AssignmentOf(p.Target.Extensions(), p.Snapshot, at, c)
	return envoy.CountEndpoints(a) > 0 &&
		!slices.ContainsFunc(a.GetEndpoints(), func(l *endpointv3.LocalityLbEndpoints) bool { return l.GetPriority() > 0 })
}
