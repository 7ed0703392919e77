package health

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-ejects-none",
	Severity: lint.Warning,
	Summary:  "one host of the cluster is more than max_ejection_percent, so its outlier detection ejects none",
	Links: []string{
		"DetectorImpl::ejectHost (source/common/upstream/outlier_detection_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/outlier_detection.proto",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		o, hosts := c.GetOutlierDetection(), staticHosts(p, c)
		if o == nil || hosts == 0 || o.GetAlwaysEjectOneHost().GetValue() || onlyCounts(o) {
			return
		}
		limit := envoy.RuntimeOf(p.Snapshot).Integer("outlier_detection.max_ejection_percent", orDefault(o.GetMaxEjectionPercent(), 10))
		if limit == 0 || hosts*limit >= 100 {
			return // 0 asks for counting alone
		}
		where, set := at.Field("outlier_detection", "max_ejection_percent"), ""
		if o.GetMaxEjectionPercent() == nil {
			where, set = at.Field("outlier_detection").Key(), ", the default"
		}
		p.Report(where, lint.Diagnostic{
			Message: fmt.Sprintf("no host is ejected: max_ejection_percent is %d%s, and one of %d hosts is more", limit, set, hosts),
			Notes:   []string{"Envoy leaves an outlier in use if more than max_ejection_percent of the hosts would be ejected"},
			Help:    fmt.Sprintf("write a max_ejection_percent of at least %d, or always_eject_one_host: true", (100+hosts-1)/hosts),
			Fixes:   lint.Insert(at.Field("outlier_detection"), "always_eject_one_host", true).Likely("eject one host in any case"),
		})
	}),
})

// onlyCounts reports whether an outlier detection is asked to count consecutive failures, and nothing else is to eject.
func onlyCounts(o *clusterv3.OutlierDetection) bool {
	return o.GetEnforcingConsecutive_5Xx() != nil && o.GetEnforcingConsecutive_5Xx().GetValue() == 0 &&
		o.GetEnforcingConsecutiveGatewayFailure().GetValue() == 0 && o.GetEnforcingFailurePercentage().GetValue() == 0
}

// staticHosts counts the hosts of a cluster that has several and cannot get more; 0 for other clusters.
func staticHosts(p *lint.Pass, c *clusterv3.Cluster) uint64 {
	hosts := envoy.CountEndpoints(c.GetLoadAssignment())
	if hosts < 2 || envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterStatic {
		return 0
	}
	return uint64(hosts)
}
