package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "lb-config-ignored",
	Severity: lint.Warning,
	Summary:  "a cluster has settings of a load balancing policy that it does not use, such as a slow start",
	Links: []string{
		"LegacyLbPolicyConfigHelper::getTypedLbConfigFromLegacyProto (source/common/upstream/upstream_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/27440",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		field, policy := lbConfig(c)
		if field == "" || c.GetLoadBalancingPolicy() == nil && c.GetLbPolicy() == policy {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("%s is ignored, because the policy of the cluster is %s", field, c.GetLbPolicy()),
			Notes:   []string{fmt.Sprintf("Envoy reads it only with lb_policy: %s", policy)},
			Help:    fmt.Sprintf("write lb_policy: %s, or remove %s", policy, field),
		}
		switch lb := at.Field("lb_policy"); {
		case c.GetLoadBalancingPolicy() != nil:
			d.Message = fmt.Sprintf("%s is ignored, because the cluster has a load_balancing_policy", field)
			d.Help = "move the settings into the configuration of that policy, or remove them"
		case c.GetLbPolicy() == clusterv3.Cluster_ROUND_ROBIN: // the default, which is rarely written
			d.Fixes = lint.Insert(at, "lb_policy", policy.String()).Likely("use the policy of the settings")
		default:
			d.Fixes = lint.Replace(lb, policy.String()).Likely("use the policy of the settings")
		}
		p.Report(at.Field(field).Key(), d)
	}),
})

// lbConfig returns the field that has the settings of a policy, and the policy.
func lbConfig(c *clusterv3.Cluster) (field string, policy clusterv3.Cluster_LbPolicy) {
	switch c.GetLbConfig().(type) {
	case *clusterv3.Cluster_RingHashLbConfig_:
		return "ring_hash_lb_config", clusterv3.Cluster_RING_HASH
	case *clusterv3.Cluster_MaglevLbConfig_:
		return "maglev_lb_config", clusterv3.Cluster_MAGLEV
	case *clusterv3.Cluster_LeastRequestLbConfig_:
		return "least_request_lb_config", clusterv3.Cluster_LEAST_REQUEST
	case *clusterv3.Cluster_RoundRobinLbConfig_:
		return "round_robin_lb_config", clusterv3.Cluster_ROUND_ROBIN
	}
	return "", 0
}
