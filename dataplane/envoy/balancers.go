package envoy

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/dynamic"
)

// hashless are the policies that do not look at the hash of a request.
var hashless = []string{balancers + "round_robin", balancers + "least_request", balancers + "random", WeightedRoundRobin}

// Choice is what a cluster looks at when it chooses a host for a request.
type Choice struct {
	Hash    bool // the hash that the hash_policy of the route makes
	Subsets bool // the metadata_match of the route
	OwnHash bool // the cluster has a hash_policy of its own, and ignores that of the route
}

// ChoiceOf returns how a cluster chooses a host. known is false if that is up to the type of the cluster, or to a policy that is not one of
// Envoy's.
func ChoiceOf(x *dataplane.Extensions, at graph.At, c *clusterv3.Cluster) (choice Choice, known bool) {
	if !slices.Contains([]string{ClusterStatic, ClusterStrictDNS, ClusterLogicalDNS, ClusterDNS, ClusterEDS}, ClusterFactory(x, c)) {
		return choice, false
	}
	http, ok := UpstreamHTTPOf(at, c)
	choice.OwnHash = len(http.Typed.GetHashPolicy()) > 0
	last := BalancingOf(x, at, c)
	for b := last; b.Name != "" || b.Subset; b = b.Child(x) {
		subsets, _ := b.Subsets(at, c)
		choice.Subsets = choice.Subsets || subsets != nil
		choice.OwnHash = choice.OwnHash || len(dynamic.Items(dynamic.Sub(b.Config, "consistent_hashing_lb_config"), "hash_policy")) > 0
		last = b
	}
	choice.Hash = last.Hashes()
	return choice, ok && (choice.Hash || slices.Contains(hashless, last.Name) || hashlessEnum(c))
}

// hashlessEnum reports whether the lb_policy of a cluster does not look at the hash of a request.
func hashlessEnum(c *clusterv3.Cluster) bool {
	switch c.GetLbPolicy() {
	case clusterv3.Cluster_ROUND_ROBIN, clusterv3.Cluster_LEAST_REQUEST, clusterv3.Cluster_RANDOM:
		return c.GetLoadBalancingPolicy() == nil
	}
	return false
}
