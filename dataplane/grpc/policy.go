package grpc

import (
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	localityv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/wrr_locality/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/graph"
)

// Policy is how a client chooses an endpoint of a priority.
type Policy struct {
	Name       string // in gRPC, such as round_robin
	ByLocality bool   // it first chooses a locality, by weight
}

// PolicyOf returns the load balancing policy of a cluster that the client accepts (validateClusterAndConstructClusterUpdate, gRFC A52).
func (c Client) PolicyOf(at graph.At, cluster *clusterv3.Cluster) Policy {
	if list := cluster.GetLoadBalancingPolicy(); list != nil {
		return c.policyIn(at.Field("load_balancing_policy"), list)
	}
	switch cluster.GetLbPolicy() {
	case clusterv3.Cluster_RING_HASH:
		return Policy{"ring_hash", false}
	case clusterv3.Cluster_LEAST_REQUEST:
		return Policy{"least_request", false}
	}
	return Policy{"round_robin", true}
}

func (c Client) policyIn(at graph.At, list *clusterv3.LoadBalancingPolicy) Policy {
	one, ok := c.first(at, list)
	if !ok {
		return Policy{}
	}
	switch m := one.config.(type) {
	case *localityv3.WrrLocality:
		return Policy{c.policyIn(one.at.Field("endpoint_picking_policy"), m.GetEndpointPickingPolicy()).Name, true}
	case *structpb.Struct:
		if one.name == wrrLocality {
			return Policy{c.childOf(m), true}
		}
	}
	return Policy{strings.TrimSuffix(one.name, "_experimental"), false}
}

const wrrLocality = "xds_wrr_locality_experimental"

// childOf returns the name of the first policy in childPolicy that the client supports.
func (c Client) childOf(config *structpb.Struct) string {
	for _, v := range config.GetFields()["childPolicy"].GetListValue().GetValues() {
		for name := range v.GetStructValue().GetFields() {
			if c.named(policies, name) {
				return strings.TrimSuffix(name, "_experimental")
			}
		}
	}
	return ""
}
