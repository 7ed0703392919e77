package grpc

import (
	"fmt"
	"math"
	"net"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/graph"
)

// Localities checks the localities of a cluster, their weights and priorities (parseEDSRespProto, gRFC A27). Those of weight 0 are left out.
func (c Client) Localities(at graph.At, load *endpointv3.ClusterLoadAssignment) (all []Fault) {
	type where struct {
		priority          uint32
		region, zone, sub string
	}
	seen, sums := map[where]bool{}, map[uint32]uint64{}
	for i, l := range load.GetEndpoints() {
		at, weight := at.Item("endpoints", i), l.GetLoadBalancingWeight().GetValue()
		if l.GetLocality() == nil && (c.is(Go) || c.is(Core) && weight > 0) {
			all = append(all, rejected(at, "the endpoints have no locality", "EDS response contains a locality without ID", "write locality: {region: …}")...)
		}
		if weight == 0 {
			continue
		}
		if sums[l.GetPriority()] += uint64(weight); sums[l.GetPriority()] > math.MaxUint32 && c.is(Go, Core) {
			all = append(all, rejected(at.Field("load_balancing_weight"), fmt.Sprintf("the weights of the localities of priority %d add up to more than 4294967295", l.GetPriority()), "sum of weights of localities at the same priority", "write smaller weights")...)
		}
		key := where{l.GetPriority(), l.GetLocality().GetRegion(), l.GetLocality().GetZone(), l.GetLocality().GetSubZone()}
		if seen[key] {
			all = append(all, rejected(at.Field("locality"), fmt.Sprintf("another entry before this one has the same locality and the priority %d", l.GetPriority()), "duplicate locality", "join the two, or write another locality")...)
		}
		seen[key] = true
	}
	for p := range uint32(len(sums)) {
		if _, ok := sums[p]; !ok {
			all = append(all, rejected(at.Field("endpoints"), fmt.Sprintf("no locality with a weight has the priority %d, and others have a lower one", p), fmt.Sprintf("priority %d missing", p), "number the priorities from 0 without a gap")...)
			break
		}
	}
	return all
}

// Endpoints checks the endpoints of the localities that a client keeps (parseEndpoints, gRFC A27).
func (c Client) Endpoints(at graph.At, load *endpointv3.ClusterLoadAssignment) (all []Fault) {
	seen := map[string]bool{}
	for i, l := range load.GetEndpoints() {
		if l.GetLoadBalancingWeight().GetValue() == 0 {
			continue
		}
		var sum uint64
		for j, e := range l.GetLbEndpoints() {
			at, weight := at.Item("endpoints", i).Item("lb_endpoints", j), uint64(1)
			if w := e.GetLoadBalancingWeight(); w != nil {
				weight = uint64(w.GetValue())
			}
			if weight == 0 && c.is(Go, Core) {
				all = append(all, rejected(at.Field("load_balancing_weight"), "the weight of an endpoint is 0", "EDS response contains an endpoint with zero weight", "remove the endpoint, or its weight")...)
			}
			if sum += weight; sum > math.MaxUint32 && c.is(Go) {
				all = append(all, rejected(at.Field("load_balancing_weight"), "the weights of the endpoints of a locality add up to more than 4294967295", "sum of weights of endpoints in the same locality exceeds maximum value", "write smaller weights")...)
			}
			all = append(all, c.addresses(at, e, seen)...)
		}
	}
	return all
}

// addresses checks the addresses of an endpoint. Go joins whatever host and port there are; the others want an IP address.
func (c Client) addresses(at graph.At, e *endpointv3.LbEndpoint, seen map[string]bool) (all []Fault) {
	check := func(at graph.At, address *corev3.Address) {
		socket := address.GetSocketAddress()
		text := net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(socket.GetPortValue())))
		if seen[text] && !c.is(Java) {
			all = append(all, rejected(at, fmt.Sprintf("another endpoint has the address %s", text), "duplicate endpoint with the same address", "remove one of the two")...)
		}
		seen[text] = true
		all = append(all, c.reachable(at, socket)...)
	}
	check(at.Field("endpoint", "address"), e.GetEndpoint().GetAddress())
	if c.enabled(dualstack, !c.is(Java)) {
		for i, more := range e.GetEndpoint().GetAdditionalAddresses() {
			check(at.Field("endpoint").Item("additional_addresses", i).Field("address"), more.GetAddress())
		}
	}
	return all
}

func (c Client) reachable(at graph.At, socket *corev3.SocketAddress) []Fault {
	const help = "write a socket_address with an IP address and a port_value"
	lost := func(message string) []Fault {
		if c.is(Go) {
			return accepted(at, Fails, message, "cannot connect to it, and RPCs to it fail with UNAVAILABLE", help)
		}
		return rejected(at, message, "", help)
	}
	switch {
	case socket == nil:
		return lost("the endpoint has no socket_address")
	case socket.GetPortValue() > 65535:
		return lost(fmt.Sprintf("%d is not a port", socket.GetPortValue()))
	case net.ParseIP(socket.GetAddress()) == nil && !c.is(Go):
		return rejected(at, fmt.Sprintf("%q is not an IP address", socket.GetAddress()), "", help)
	}
	return nil
}

// Drops checks the drops of a load assignment (parseDropPolicy, gRFC A27).
func (c Client) Drops(at graph.At, load *endpointv3.ClusterLoadAssignment) (all []Fault) {
	for i, drop := range load.GetPolicy().GetDropOverloads() {
		at, share := at.Field("policy").Item("drop_overloads", i), drop.GetDropPercentage()
		if share.GetDenominator() > 2 {
			all = append(all, rejected(at.Field("drop_percentage", "denominator"), fmt.Sprintf("gRPC does not know the denominator %d", share.GetDenominator()), "unsupported denominator", "write HUNDRED, TEN_THOUSAND or MILLION")...)
			continue
		}
		if drop.GetCategory() == "" && c.is(Core) {
			all = append(all, rejected(at, "the drop has no category", "", "write a category")...)
		}
		if share == nil && c.is(Core) {
			all = append(all, rejected(at, "the drop has no drop_percentage", "", "write a drop_percentage")...)
		}
		if whole := []uint32{100, 10_000, 1_000_000}[share.GetDenominator()]; share.GetNumerator() >= whole {
			all = append(all, accepted(at.Field("drop_percentage"), Fails, "the drop takes every RPC", "fails all RPCs to the cluster with UNAVAILABLE", "write a smaller share")...)
		}
	}
	return all
}

// Unusable reports load assignments without an endpoint that gRPC uses (parseEDSRespProto, gRFC A27), and localities that it leaves out.
func (c Client) Unusable(at graph.At, load *endpointv3.ClusterLoadAssignment) (all []Fault) {
	usable := false
	for i, l := range load.GetEndpoints() {
		if l.GetLoadBalancingWeight().GetValue() == 0 {
			all = append(all, accepted(at.Item("endpoints", i), Ignores, "the locality has no load_balancing_weight", "does not use its endpoints", "write a load_balancing_weight above 0")...)
			continue
		}
		for _, e := range l.GetLbEndpoints() {
			usable = usable || e.GetHealthStatus() == corev3.HealthStatus_UNKNOWN || e.GetHealthStatus() == corev3.HealthStatus_HEALTHY
		}
	}
	if usable {
		return append(all, degraded(at, load)...)
	}
	if len(all) > 0 && len(all) == len(load.GetEndpoints()) {
		for i := range all {
			all[i].Effect, all[i].Then = Fails, "does not use its endpoints, and fails all RPCs to the cluster with UNAVAILABLE"
		}
		return all
	}
	return append(all, accepted(at, Fails, "the load assignment has no endpoint that is healthy", "fails all RPCs to the cluster with UNAVAILABLE", "add an endpoint")...)
}

// degraded reports endpoints that Envoy uses if there are too few healthy ones, and gRPC never does (priorityLocalitiesToEndpoints).
func degraded(at graph.At, load *endpointv3.ClusterLoadAssignment) (all []Fault) {
	for i, l := range load.GetEndpoints() {
		for j, e := range l.GetLbEndpoints() {
			if e.GetHealthStatus() == corev3.HealthStatus_DEGRADED && l.GetLoadBalancingWeight().GetValue() > 0 {
				all = append(all, accepted(at.Item("endpoints", i).Item("lb_endpoints", j).Field("health_status"), Ignores, "the endpoint is DEGRADED", "does not use it", "give it a lower priority instead")...)
			}
		}
	}
	return all
}
