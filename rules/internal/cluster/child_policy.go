package cluster

import (
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "child-policy",
	Severity: lint.Error,
	Summary:  "a load balancing policy does not have the child policy that it needs, or one that does not fit",
	Links: []string{
		"WrrLocalityLbFactory::loadConfig (source/extensions/load_balancing_policies/wrr_locality/config.h)",
		"SubsetLoadBalancerConfig (source/extensions/load_balancing_policies/subset/subset_lb_config.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		x := p.Target.Extensions()
		for b := envoy.BalancingOf(x, at, c); b.Name != ""; b = b.Child(x) {
			checkChild(p, b, b.Child(x))
		}
	}),
})

func checkChild(p *lint.Pass, b, child envoy.Balancing) {
	field, parent := envoy.ChildFields[b.Name]
	if !parent || b.Config == nil {
		return
	}
	if b.Name == envoy.LoadAwareLocalityPolicy && p.Target.Before("1.40") {
		p.Reject(b.At, lint.Rejection{
			Message:  "Envoy 1.39 has load_aware_locality, but does not implement it",
			Help:     "use another policy, or Envoy 1.40",
			Upstream: b.Name + " is not yet implemented",
		})
		return
	}
	short := b.Name[strings.LastIndex(b.Name, ".")+1:]
	if _, ok := dynamic.Value(b.Config, field); !ok {
		if upstream := childless[b.Name]; upstream != "" {
			p.Reject(b.At.Key(), lint.Rejection{
				Message:  fmt.Sprintf("the policy %s does not have %s", short, field),
				Help:     fmt.Sprintf("write %s: {policies: …}", field),
				Upstream: upstream,
			})
		}
		return
	}
	switch {
	case child.Name == "":
	case b.Name == envoy.WrrLocalityPolicy && child.Name != envoy.WeightedRoundRobin:
		p.Reject(child.At, lint.Rejection{
			Message:  fmt.Sprintf("wrr_locality cannot use %s", child.Name),
			Help:     "use " + envoy.WeightedRoundRobin,
			Upstream: "Currently WrrLocalityLoadBalancer only supports ClientSideWeightedRoundRobinLoadBalancer as its endpoint picking policy.",
		})
	case b.Name == envoy.LoadAwareLocalityPolicy && child.Name == b.Name:
		p.Reject(child.At, lint.Rejection{
			Message:  "load_aware_locality cannot be its own endpoint_picking_policy",
			Help:     "use another policy, such as round_robin",
			Upstream: "load_aware_locality cannot be its own endpoint_picking_policy",
		})
	case b.Name == envoy.LoadAwareLocalityPolicy && child.Provided():
		p.Reject(child.At, lint.Rejection{
			Message: "load_aware_locality cannot use the load balancer of a cluster",
			Help:    "use another policy, such as round_robin",
			Upstream: fmt.Sprintf("Unsupported endpoint picking policy for load_aware_locality: %s. Child load balancer could not be instantiated per locality.",
				child.Name),
		})
	}
}

// childless maps policies to what Envoy says if the field is missing and no constraint requires it.
var childless = map[string]string{
	envoy.SubsetPolicy:            "cluster: didn't find a registered load balancer factory implementation for subset lb with names from []",
	envoy.WrrLocalityPolicy:       "No supported endpoint picking policy.",
	envoy.LoadAwareLocalityPolicy: "No supported endpoint picking policy.",
}
