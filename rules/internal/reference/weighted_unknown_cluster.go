package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weighted-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a member of weighted_clusters does not exist",
	Why: `Requests that the weights send there are answered with 503 and the response flag ` + "`NC`" + `; all others pass, so the fault looks
like a flaky backend.

As with single clusters, an inline table is refused as a whole (` + "`route: unknown weighted cluster 'x'`" + `), even where the member's weight is 0.`,
	Links: []string{"WeightedClusterSpecifierPlugin::validateClusters (source/common/router/weighted_cluster_specifier.cc)"},
	Run:   clusterRule(envoy.WeightedCluster, "envoy accepts it and answers the cluster's share of the requests with 503 (response flag NC)"),
})
