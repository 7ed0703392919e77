package envoy

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// AssignmentOf returns the load assignment that a cluster uses: its own, or the one from EDS. It returns nil if it is not known.
func AssignmentOf(x *dataplane.Extensions, s graph.View, at graph.At, c *clusterv3.Cluster) *endpointv3.ClusterLoadAssignment {
	if ClusterFactory(x, c) != ClusterEDS {
		return c.GetLoadAssignment()
	}
	for _, e := range s.From(at.Resource()) {
		if e.Kind == graph.ClusterLoadAssignment && e.To != nil {
			a, _ := e.To.Message.(*endpointv3.ClusterLoadAssignment)
			return a
		}
	}
	return nil
}

// CountEndpoints counts the endpoints of a load assignment. The endpoints of a collection (LEDS) are not known;
// each collection counts as one.
func CountEndpoints(cla *endpointv3.ClusterLoadAssignment) (n int) {
	for _, locality := range cla.GetEndpoints() {
		n += len(locality.GetLbEndpoints()) + len(locality.GetLoadBalancerEndpoints().GetLbEndpoints())
		if locality.GetLedsClusterLocalityConfig() != nil {
			n++
		}
	}
	return n
}

// Usable reports whether an endpoint gets requests, as far as its health_status says (HostUtility::healthStatus).
func Usable(e *endpointv3.LbEndpoint) bool {
	switch e.GetHealthStatus() {
	case corev3.HealthStatus_UNHEALTHY, corev3.HealthStatus_DRAINING, corev3.HealthStatus_TIMEOUT:
		return false
	}
	return true
}

// Panics reports whether a cluster stops to look at the health of its hosts when none is healthy
// (LoadBalancerBase::recalculatePerPriorityPanic).
func Panics(s graph.View, c *clusterv3.Cluster) bool {
	threshold := c.GetCommonLbConfig().GetHealthyPanicThreshold()
	otherwise := uint64(1)
	if threshold != nil && threshold.GetValue() == 0 {
		otherwise = 0
	}
	return RuntimeOf(s).Integer("upstream.healthy_panic_threshold", otherwise) > 0
}
