package route

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "metadata-match-no-subset",
	Severity: lint.Warning,
	Summary:  "a route selects hosts by their metadata, and its cluster does not have subsets",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/subsets",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		action := r.GetRoute()
		if selects(action.GetMetadataMatch()) {
			if all, known := upstreamsOf(p, action); known {
				checkSubsets(p, at.Field("route"), all)
			}
		}
		for i, c := range action.GetWeightedClusters().GetClusters() {
			if !selects(c.GetMetadataMatch()) {
				continue
			}
			if u, known := upstreamOf(p, c.GetName()); known {
				checkSubsets(p, at.Field("route", "weighted_clusters").Item("clusters", i), []upstream{u})
			}
		}
	}),
})

// selects reports whether a metadata_match says something about hosts.
func selects(m *corev3.Metadata) bool {
	return len(m.GetFilterMetadata()["envoy.lb"].GetFields()) > 0
}

// checkSubsets reports a metadata_match at a place if none of the clusters looks at it.
func checkSubsets(p *lint.Pass, at lint.At, all []upstream) {
	for _, u := range all {
		if choice, known := envoy.ChoiceOf(p.Target.Extensions(), u.at, u.cluster); !known || choice.Subsets {
			return
		}
	}
	if _, ok := tableOf(p, at); !ok {
		return
	}
	p.Report(at.Field("metadata_match").Key(), lint.Diagnostic{
		Message: "metadata_match has no effect: requests go to all hosts of the cluster",
		Notes:   []string{"Envoy compares the metadata of hosts only in a cluster with subset_selectors"},
		Help:    "add an lb_subset_config with these keys to the cluster, or remove metadata_match",
		Related: []lint.Related{lint.RelatedTo(all[0].at, "the cluster")},
	})
}
