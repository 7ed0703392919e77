package health

import (
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

// noTrafficInterval is the default of no_traffic_interval.
const noTrafficInterval = time.Minute

var _ = Rules.Add(&lint.Rule{
	Name:     "hc-no-traffic",
	Severity: lint.Info,
	Summary:  "hosts that fail their first health check get no request for a minute, whatever the interval",
	Links: []string{
		"HealthCheckerImplBase::interval (source/common/upstream/health_checker_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/16724",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if envoy.Panics(p.Snapshot, c) {
			return
		}
		for i, check := range c.GetHealthChecks() {
			interval := check.GetInterval().AsDuration()
			if check.GetNoTrafficInterval() != nil || interval <= 0 || interval >= noTrafficInterval {
				continue
			}
			at := at.Item("health_checks", i)
			p.Report(at.Field("interval"), lint.Diagnostic{
				Message: fmt.Sprintf("the interval of %s is used only after the cluster has had a connection, and until then it is 60s", interval),
				Notes: []string{
					"healthy_panic_threshold is 0, so a cluster without a healthy host does not get connections: if no host passes the first check, " +
						"requests fail for 60s",
				},
				Help:  "add no_traffic_interval",
				Fixes: lint.Insert(at, "no_traffic_interval", fmt.Sprintf("%gs", interval.Seconds())).Likely("add no_traffic_interval with the same interval"),
			})
		}
	}),
})
