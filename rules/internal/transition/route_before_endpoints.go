package transition

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-before-endpoints",
	Severity: lint.Warning,
	Summary:  "traffic moves to a cluster that gets its first endpoints in the same push",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/panic_threshold",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		before, after := envoy.TrafficOf(p.Old), envoy.TrafficOf(p.Snapshot)
		for _, now := range touched(p, changes) {
			was := p.Old.Pushed(graph.Cluster, now.Name)
			if was == nil || now.Delivery != graph.OverXDS || !holdsEndpoints(was) || !holdsEndpoints(now) {
				continue
			}
			had, _ := endpointsOf(p.Old, was)
			has, _ := endpointsOf(p.Snapshot, now)
			if envoy.CountEndpoints(had) > 0 || envoy.CountEndpoints(has) == 0 {
				continue
			}
			e := useOf(p.Snapshot, now, func(e *graph.Edge) bool { return !pointedThere(p.Old, e) && after.Continues(e, before) })
			if e == nil {
				continue
			}
			d := lint.Diagnostic{
				Message: fmt.Sprintf("cluster %q is used before it has endpoints: %s", now.Name, whose(after, e)),
				Notes: []string{"the cluster has no host: until it has endpoints, Envoy answers the requests with 503 " +
					"(response flag UH)"},
				Help:    "push the endpoints and wait until Envoy ACKs EDS, then push the routes: `xdslint plan` gives the order",
				Related: []lint.Related{lint.RelatedTo(now.At().Field("name"), "it existed before, without endpoints")},
			}
			switch {
			case waitsForHealth(now):
				d.Notes[0] = "until a new endpoint passes its first health check, Envoy answers the requests with 503 (response " +
					"flag UH), since healthy_panic_threshold is 0"
				d.Help = "push the endpoints first, and the routes when their health checks have passed; the ACK of EDS does " +
					"not wait for that"
			case p.Push.Transport.ADS():
				d.Severity = lint.Info
				d.Notes = append(d.Notes, "over ADS, this happens only if the server sends RDS before EDS")
			}
			p.ReportEdge(e, d)
		}
	}),
})

// waitsForHealth reports whether Envoy uses only endpoints that are known to be healthy, even if there are none.
func waitsForHealth(cluster *graph.Resource) bool {
	c, _ := cluster.Message.(*clusterv3.Cluster)
	threshold := c.GetCommonLbConfig().GetHealthyPanicThreshold()
	return len(c.GetHealthChecks()) > 0 && threshold != nil && threshold.GetValue() == 0
}
