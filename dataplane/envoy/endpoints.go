package envoy

import endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

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
