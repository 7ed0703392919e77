package transition

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "endpoint-swap-unchecked",
	Severity: lint.Warning,
	Summary:  "all endpoints of a cluster with health checks are replaced at once, and none is used until the new ones are healthy",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/panic_threshold",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/cluster.proto#envoy-v3-api-field-config-cluster-v3-cluster-ignore-health-on-host-removal",
		"BaseDynamicClusterImpl::updateDynamicHostList (source/common/upstream/upstream_impl.cc)",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.ClusterLoadAssignment) {
			if change.Changed() && envoy.Exchanged(change.Old, change.New) && checkedFirst(change.New) {
				reportSwap(p, changes, change)
			}
		}
	}),
})

func reportSwap(p *lint.Pass, changes *graph.Changes, change *graph.Change) {
	for _, e := range p.Snapshot.To(change.New) {
		c, ok := e.From.Message.(*clusterv3.Cluster)
		// A cluster that also changes is rebuilt, and warms with its new endpoints before it takes over.
		if !ok || e.Field != fieldEDS || !p.Snapshot.Serves(e.From) || changes.Find(graph.Cluster, e.From.Name) != nil || !unbridged(c) {
			continue
		}
		at := change.New.At()
		p.Report(at.Field("endpoints").Key(), lint.Diagnostic{
			Message: fmt.Sprintf("all endpoints of cluster %q are replaced at once, and it drops the old ones before the new "+
				"ones are healthy", e.From.Name),
			Notes: []string{"Envoy answers requests for it with 503 (response flag UH) until a new endpoint passes its first " +
				"health check"},
			Help: "add the new endpoints first, and remove the old ones when the new ones are healthy, or remove " +
				"ignore_health_on_host_removal",
			Related: []lint.Related{lint.RelatedTo(e.From.At().Field("ignore_health_on_host_removal"), "Envoy removes old endpoints at once")},
		})
		return
	}
}

// unbridged reports whether no endpoint of a cluster takes requests while none is healthy.
func unbridged(c *clusterv3.Cluster) bool {
	lb := c.GetCommonLbConfig()
	noPanic := lb.GetHealthyPanicThreshold() != nil && lb.GetHealthyPanicThreshold().GetValue() == 0
	return len(c.GetHealthChecks()) > 0 && c.GetIgnoreHealthOnHostRemoval() && (noPanic || lb.GetZoneAwareLbConfig().GetFailTrafficOnPanic())
}

// checkedFirst reports whether all known endpoints must pass a health check first.
func checkedFirst(r *graph.Resource) bool {
	cla, _ := r.Message.(*endpointv3.ClusterLoadAssignment)
	for _, locality := range cla.GetEndpoints() {
		if locality.GetLedsClusterLocalityConfig() != nil || locality.GetLoadBalancerEndpoints() != nil {
			return false
		}
		for _, e := range locality.GetLbEndpoints() {
			if e.GetEndpoint().GetHealthCheckConfig().GetDisableActiveHealthCheck() {
				return false
			}
		}
	}
	return true
}
