package envoy

import (
	"math"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	maglevv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/maglev/v3"
	ringhashv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/ring_hash/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/dynamic"
)

// Balancing is the load balancing policy that a cluster uses: the first entry of its load_balancing_policy that Envoy has, or its
// lb_policy.
type Balancing struct {
	Name   string // of the extension; empty if Envoy does not have it
	Subset bool   // the policy balances within the subsets of an lb_subset_config
	Config proto.Message
	At     graph.At // the configuration, or the field that names the policy
}

const balancers = "envoy.load_balancing_policies."

// BalancingOf returns the policy of a cluster (ClusterInfoImpl::configureLbPolicies and LegacyLbPolicyConfigHelper).
func BalancingOf(x *dataplane.Extensions, at graph.At, c *clusterv3.Cluster) Balancing {
	if list := c.GetLoadBalancingPolicy(); list != nil {
		return firstPolicy(x, at.Field("load_balancing_policy"), list)
	}
	b := Balancing{At: at.Field("lb_policy"), Subset: len(c.GetLbSubsetConfig().GetSubsetSelectors()) > 0}
	switch c.GetLbPolicy() {
	case clusterv3.Cluster_RING_HASH:
		b.Name = balancers + "ring_hash"
		if own := c.GetRingHashLbConfig(); own != nil {
			b.At = at.Field("ring_hash_lb_config")
			b.Config = &ringhashv3.RingHash{MinimumRingSize: own.GetMinimumRingSize(), MaximumRingSize: own.GetMaximumRingSize()}
		}
	case clusterv3.Cluster_MAGLEV:
		b.Name = balancers + "maglev"
		if own := c.GetMaglevLbConfig(); own != nil {
			b.At = at.Field("maglev_lb_config")
			b.Config = &maglevv3.Maglev{TableSize: own.GetTableSize()}
		}
	case clusterv3.Cluster_CLUSTER_PROVIDED:
		b.Name = balancers + "cluster_provided"
	}
	return b
}

// Provided reports whether the policy leaves load balancing to the cluster.
func (b Balancing) Provided() bool { return b.Name == balancers+"cluster_provided" }

// Hashes reports whether the policy adds up all weights of a priority (TypedHashLbConfigBase::validateEndpoints).
func (b Balancing) Hashes() bool {
	return b.Name == balancers+"ring_hash" || b.Name == balancers+"maglev"
}

// MaxWeights is the largest allowed sum of the weights of a priority.
const MaxWeights = math.MaxUint32

// ValueOr returns the value of a wrapper, or a default if it is nil.
func ValueOr(v *wrapperspb.UInt64Value, otherwise uint64) uint64 {
	if v == nil {
		return otherwise
	}
	return v.GetValue()
}

// Policies that use another policy.
const (
	SubsetPolicy            = balancers + "subset"
	OverrideHostPolicy      = balancers + "override_host"
	WrrLocalityPolicy       = balancers + "wrr_locality"
	LoadAwareLocalityPolicy = balancers + "load_aware_locality"
	WeightedRoundRobin      = balancers + "client_side_weighted_round_robin"
)

// ChildFields maps each policy that uses another policy to the field that selects it.
var ChildFields = map[string]protoreflect.Name{
	SubsetPolicy:            "subset_lb_policy",
	OverrideHostPolicy:      "fallback_policy",
	WrrLocalityPolicy:       "endpoint_picking_policy",
	LoadAwareLocalityPolicy: "endpoint_picking_policy",
}

// Child returns the policy that b uses. Its Name is empty if b does not use one, or if Envoy has none of those listed.
func (b Balancing) Child(x *dataplane.Extensions) (child Balancing) {
	field := ChildFields[b.Name]
	if list, ok := dynamic.Sub(b.Config, field).(*clusterv3.LoadBalancingPolicy); ok {
		return firstPolicy(x, b.At.Field(string(field)), list)
	}
	return child
}

// firstPolicy returns the first policy of a list that Envoy has. Envoy ignores the others.
func firstPolicy(x *dataplane.Extensions, at graph.At, list *clusterv3.LoadBalancingPolicy) (b Balancing) {
	for i, policy := range list.GetPolicies() {
		held := policy.GetTypedExtensionConfig().GetTypedConfig()
		for _, e := range x.ByTypeURL(string(decode.TypeName(held.GetTypeUrl()))) {
			if e.Category == "envoy.load_balancing_policies" {
				b.Name = e.Name
				b.Config, b.At = Content(at.Item("policies", i).Field("typed_extension_config", "typed_config"), held)
				return b
			}
		}
	}
	return b
}

// Subsets returns the message that says how a cluster divides its hosts into subsets, or nil if it does not. It is the configuration of the
// policy or lb_subset_config; both have the same fields.
func (b Balancing) Subsets(at graph.At, c *clusterv3.Cluster) (proto.Message, graph.At) {
	switch {
	case b.Subset:
		return c.GetLbSubsetConfig(), at.Field("lb_subset_config")
	case b.Name == SubsetPolicy && b.Config != nil:
		return b.Config, b.At
	}
	return nil, at
}
