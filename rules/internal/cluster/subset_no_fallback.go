package cluster

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "subset-no-fallback",
	Severity: lint.Warning,
	Summary:  "a route selects no subset of a cluster that only serves subsets, so its requests fail",
	Links: []string{
		"SubsetLoadBalancer::chooseHost (source/extensions/load_balancing_policies/subset/subset_lb.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/subsets",
		"https://github.com/envoyproxy/envoy/issues/15163",
	},
	Run: eachRouted(func(p *lint.Pass, c *clusterv3.Cluster, at lint.At) bool {
		subsets, _ := subsetsOf(p, c, at)
		if subsets == nil || len(selectorsOf(subsets)) == 0 {
			return false
		}
		fallback, _ := dynamic.Value(subsets, "fallback_policy")
		return !fallback.IsValid() || fallback.Enum() == 0
	}, func(p *lint.Pass, r routed) {
		if selectsSubset(r) {
			return
		}
		_, at := subsetsOf(p, r.cluster, r.at)
		p.Report(r.name, lint.Diagnostic{
			Message: fmt.Sprintf("requests to %q fail, because the route does not select a subset of it", r.cluster.GetName()),
			Notes:   []string{"without metadata_match, Envoy uses the fallback_policy of the cluster; NO_FALLBACK, the default, is 503 (response flag UH)"},
			Help:    "add metadata_match to the route, or fallback_policy: ANY_ENDPOINT to the cluster",
			Related: []lint.Related{lint.RelatedTo(at.Key(), "the cluster only serves subsets")},
		})
	}),
})

func subsetsOf(p *lint.Pass, c *clusterv3.Cluster, at lint.At) (proto.Message, lint.At) {
	return envoy.BalancingOf(p.Target.Extensions(), at, c).Subsets(at, c)
}

// selectsSubset reports whether a route has metadata that selects a subset.
func selectsSubset(r routed) bool {
	action := r.Route.GetRoute().GetMetadataMatch().GetFilterMetadata()["envoy.lb"]
	own := r.Cluster.GetMetadataMatch().GetFilterMetadata()["envoy.lb"]
	return len(action.GetFields())+len(own.GetFields()) > 0
}
