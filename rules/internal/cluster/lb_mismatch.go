package cluster

import (
	"fmt"
	"math/big"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	maglevv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/maglev/v3"
	ringhashv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/ring_hash/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "lb-mismatch",
	Severity: lint.Error,
	Summary:  "the load balancing of a cluster does not fit its type or its other settings",
	Links: []string{
		"ClusterInfoImpl::configureLbPolicies (source/common/upstream/upstream_impl.cc)",
		"ClusterManagerImpl::loadCluster (source/common/upstream/cluster_manager_impl.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		checkCombined(p, at, c)
		b := envoy.BalancingOf(p.Target.Extensions(), at, c)
		if b.Subset && b.Provided() {
			p.Reject(b.At, lint.Rejection{
				Message:  "CLUSTER_PROVIDED cannot be combined with lb_subset_config",
				Help:     "remove one of them",
				Upstream: "cluster: LB policy CLUSTER_PROVIDED cannot be combined with lb_subset_config",
			})
		} else {
			checkProvided(p, at, c, b)
		}
		for ; b.Name != "" && isMade(p, at, c, b); b = b.Child(p.Target.Extensions()) {
			checkHashing(p, b)
		}
	}),
})

// checkHashing reports an invalid size of a ring or a table.
func checkHashing(p *lint.Pass, b envoy.Balancing) {
	switch config := b.Config.(type) {
	case *ringhashv3.RingHash:
		low, high := envoy.ValueOr(config.GetMinimumRingSize(), 1024), envoy.ValueOr(config.GetMaximumRingSize(), 1024*1024*8)
		if low <= high {
			return
		}
		field, message := "minimum_ring_size", fmt.Sprintf("minimum_ring_size %d is above the maximum, %d", low, high)
		if config.GetMinimumRingSize() == nil {
			field, message = "maximum_ring_size", fmt.Sprintf("maximum_ring_size %d is below minimum_ring_size, which is %d by default", high, low)
		}
		p.Reject(b.At.Field(field), lint.Rejection{
			Message:  message,
			Help:     fmt.Sprintf("write a minimum_ring_size of at most %d, or a larger maximum_ring_size", high),
			Upstream: fmt.Sprintf("ring hash: minimum_ring_size (%d) > maximum_ring_size (%d)", low, high),
		})
	case *maglevv3.Maglev:
		size := envoy.ValueOr(config.GetTableSize(), 65537)
		if prime(size) {
			return
		}
		p.Reject(b.At.Field("table_size"), lint.Rejection{
			Message:  fmt.Sprintf("the table size %d is not a prime number", size),
			Help:     "write 65537, the default, or another prime number of at most 5000011",
			Upstream: "The table size of maglev must be prime number",
		})
	}
	if b.Name == envoy.LoadAwareLocalityPolicy {
		checkVariance(p, b)
	}
}

func checkVariance(p *lint.Pass, b envoy.Balancing) {
	threshold, ok := dynamic.Value(dynamic.Sub(b.Config, "utilization_variance_threshold"), "value")
	if !ok {
		return
	}
	if share := threshold.Float(); share < 0 || share > 1 {
		p.Reject(b.At.Field("utilization_variance_threshold"), lint.Rejection{
			Message:  fmt.Sprintf("utilization_variance_threshold is %v, but must be from 0 to 1", share),
			Help:     "write a number from 0 to 1",
			Upstream: "utilization_variance_threshold must be in [0, 1]",
		})
	}
}

// isMade reports whether Envoy creates the load balancer when it loads the cluster. It creates the load balancers of subsets with
// their first hosts, which only a STATIC cluster of the bootstrap has at that time (SubsetLoadBalancer::SubsetLoadBalancer).
func isMade(p *lint.Pass, at lint.At, c *clusterv3.Cluster, b envoy.Balancing) bool {
	subsets, _ := b.Subsets(at, c)
	if subsets == nil {
		return true
	}
	if at.Resource().Delivery != graph.FromBootstrap || envoy.ClusterFactory(p.Target.Extensions(), c) != envoy.ClusterStatic {
		return false
	}
	_, falls := dynamic.Value(subsets, "fallback_policy")
	_, panics := dynamic.Value(subsets, "panic_mode_any")
	if falls || panics {
		return true
	}
	for _, s := range selectorsOf(subsets) {
		if s.fallback == anyEndpoint || s.fallback == defaultSubset || !s.single && selects(c, s.keys) {
			return true
		}
	}
	return false
}

// selects reports whether an endpoint has all keys of a selector.
func selects(c *clusterv3.Cluster, keys []string) bool {
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		for _, endpoint := range locality.GetLbEndpoints() {
			values := endpoint.GetMetadata().GetFilterMetadata()["envoy.lb"].GetFields()
			if len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return values[key] == nil }) {
				return true
			}
		}
	}
	return false
}

// prime follows Primes::isPrime, which accepts 1.
func prime(n uint64) bool {
	return n == 1 || new(big.Int).SetUint64(n).ProbablyPrime(0)
}

// checkCombined reports settings that cannot be combined, whatever the type of the cluster.
func checkCombined(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
	common := c.GetCommonLbConfig()
	switch {
	case c.GetLoadBalancingPolicy() == nil && c.GetLbPolicy() == clusterv3.Cluster_LOAD_BALANCING_POLICY_CONFIG:
		p.Reject(at.Field("lb_policy"), lint.Rejection{
			Message:  "LOAD_BALANCING_POLICY_CONFIG needs a load_balancing_policy",
			Help:     "write a load_balancing_policy, or another lb_policy",
			Upstream: "cluster: field load_balancing_policy need to be set",
		})
	case c.GetLoadBalancingPolicy() == nil:
	case c.GetLbSubsetConfig() != nil:
		p.Reject(at.Field("lb_subset_config").Key(), lint.Rejection{
			Message:  "lb_subset_config cannot be combined with load_balancing_policy",
			Help:     "use envoy.load_balancing_policies.subset as the load_balancing_policy",
			Upstream: "cluster: load_balancing_policy cannot be combined with lb_subset_config",
		})
	default:
		const help = "move it into the configuration of the policy"
		const upstream = "cluster: load_balancing_policy cannot be combined with partial fields (zone_aware_lb_config, locality_weighted_lb_config, consistent_hashing_lb_config) of common_lb_config"
		for _, field := range []struct {
			name string
			set  bool
		}{
			{"zone_aware_lb_config", common.GetZoneAwareLbConfig() != nil},
			{"locality_weighted_lb_config", common.GetLocalityWeightedLbConfig() != nil},
			{"consistent_hashing_lb_config", common.GetConsistentHashingLbConfig() != nil},
		} {
			if field.set {
				p.Reject(at.Field("common_lb_config", field.name).Key(), lint.Rejection{
					Message:  field.name + " cannot be combined with load_balancing_policy",
					Help:     help,
					Upstream: upstream,
				})
			}
		}
	}
	if c.GetLbSubsetConfig().GetLocalityWeightAware() && common.GetLocalityWeightedLbConfig() == nil {
		p.Reject(at.Field("lb_subset_config", "locality_weight_aware"), lint.Rejection{
			Message:  "locality_weight_aware needs weights of localities, but the cluster does not use them",
			Help:     "add common_lb_config: {locality_weighted_lb_config: {}}",
			Upstream: "Locality weight aware subset LB requires that a locality_weighted_lb_config be set",
		})
	}
	if common.GetConsistentHashingLbConfig().GetUseHostnameForHashing() && c.GetType() != clusterv3.Cluster_STRICT_DNS {
		p.Reject(at.Field("common_lb_config", "consistent_hashing_lb_config", "use_hostname_for_hashing"), lint.Rejection{
			Message:  "only a STRICT_DNS cluster can hash the names of its hosts",
			Help:     "use type: STRICT_DNS, or remove it",
			Upstream: "Cannot use hostname for consistent hashing loadbalancing",
		})
	}
}

var (
	providing = []string{"envoy.clusters.aggregate", "envoy.clusters.composite", envoy.ClusterDFP, "envoy.clusters.mcp_multicluster"}
	plain     = []string{envoy.ClusterStatic, envoy.ClusterStrictDNS, envoy.ClusterLogicalDNS, envoy.ClusterDNS, envoy.ClusterEDS}
)

// checkProvided reports a policy that does not fit a cluster with or without its own load balancer. cluster/original-dst checks the
// lb_policy of ORIGINAL_DST.
func checkProvided(p *lint.Pass, at lint.At, c *clusterv3.Cluster, b envoy.Balancing) {
	factory := envoy.ClusterFactory(p.Target.Extensions(), c)
	switch {
	case b.Name == "" && (c.GetLoadBalancingPolicy() != nil || c.GetLbPolicy() == clusterv3.Cluster_LOAD_BALANCING_POLICY_CONFIG):
		// Envoy does not have the policy
	case b.Provided() && slices.Contains(plain, factory):
		p.Reject(b.At, lint.Rejection{
			Message:  fmt.Sprintf("a cluster of type %s does not provide a load balancer", factory),
			Help:     "write another policy, such as ROUND_ROBIN",
			Upstream: "cluster manager: cluster provided LB specified but cluster did not provide one",
		})
	case !b.Provided() && slices.Contains(providing, factory):
		p.Reject(at.Field("lb_policy"), lint.Rejection{
			Message:  fmt.Sprintf("a cluster of type %s has its own load balancer", factory),
			Help:     "write lb_policy: CLUSTER_PROVIDED",
			Upstream: "cluster manager: cluster provided LB not specified but cluster provided one",
		})
	case !b.Provided() && factory == envoy.ClusterOriginalDst && c.GetLoadBalancingPolicy() != nil:
		p.Reject(b.At, lint.Rejection{
			Message:  "an ORIGINAL_DST cluster has its own load balancer",
			Help:     "remove load_balancing_policy",
			Upstream: "cluster manager: cluster provided LB not specified but cluster provided one",
		})
	case factory == "envoy.clusters.reverse_connection" && c.GetLbPolicy() != clusterv3.Cluster_CLUSTER_PROVIDED:
		p.Reject(at.Field("lb_policy"), lint.Rejection{
			Message:  "a cluster of type envoy.clusters.reverse_connection has its own load balancer",
			Help:     "write lb_policy: CLUSTER_PROVIDED",
			Upstream: "Only 'CLUSTER_PROVIDED' is allowed with cluster type 'REVERSE_CONNECTION'",
		})
	}
}
