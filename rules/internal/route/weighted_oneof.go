package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weighted-oneof",
	Severity: lint.Error,
	Summary:  "a weighted cluster is named in two ways, or not at all",
	Links:    []string{"validateWeightedClusterSpecifier (source/common/router/weighted_cluster_specifier.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.WeightedCluster_ClusterWeight) {
		if (m.GetName() == "") != (m.GetClusterHeader() == "") {
			return
		}
		parent := at.Place.Parent
		if parent == nil || holder(parent.At()) != "envoy.config.route.v3.RouteAction.weighted_clusters" {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if m.GetName() == "" {
			p.Reject(at, lint.Rejection{
				Message:  "this weighted cluster does not name a cluster",
				Help:     "write name, or cluster_header for a request header that names it",
				Upstream: "At least one of name or cluster_header need to be specified",
			})
			return
		}
		p.Reject(at.Field("cluster_header"), lint.Rejection{
			Message:  "a weighted cluster has either name or cluster_header",
			Help:     "keep one of them",
			Upstream: "Only one of name or cluster_header can be specified",
			Related:  []lint.Related{lint.RelatedTo(at.Field("name"), "the name")},
		})
	}),
})
