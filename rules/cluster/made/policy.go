package made

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/target"
)

// The policies that use another one.
const (
	SubsetPolicy            = balancers + "subset"
	OverrideHostPolicy      = balancers + "override_host"
	WrrLocalityPolicy       = balancers + "wrr_locality"
	LoadAwareLocalityPolicy = balancers + "load_aware_locality"
	WeightedRoundRobin      = balancers + "client_side_weighted_round_robin"
)

// ChildFields name, for each policy that uses another one, the field that says which.
var ChildFields = map[string]protoreflect.Name{
	SubsetPolicy:            "subset_lb_policy",
	OverrideHostPolicy:      "fallback_policy",
	WrrLocalityPolicy:       "endpoint_picking_policy",
	LoadAwareLocalityPolicy: "endpoint_picking_policy",
}

// Child is the policy that a policy uses; its Name is empty if there is none, or Envoy has none of them.
func (b Balancing) Child(x *target.Extensions) (child Balancing) {
	field := ChildFields[b.Name]
	if list, ok := Sub(b.Config, field).(*clusterv3.LoadBalancingPolicy); ok {
		return firstPolicy(x, b.At.Field(string(field)), list)
	}
	return child
}

// firstPolicy is the first policy of a list that Envoy has: it looks at no other.
func firstPolicy(x *target.Extensions, at lint.At, list *clusterv3.LoadBalancingPolicy) (b Balancing) {
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

// Subsets is how a cluster divides its hosts, nil if it does not: the configuration of the policy, or lb_subset_config,
// whose fields are the same.
func (b Balancing) Subsets(at lint.At, c *clusterv3.Cluster) (proto.Message, lint.At) {
	switch {
	case b.Subset:
		return c.GetLbSubsetConfig(), at.Field("lb_subset_config")
	case b.Name == SubsetPolicy && b.Config != nil:
		return b.Config, b.At
	}
	return nil, at
}
