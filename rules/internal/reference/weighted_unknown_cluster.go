package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weighted-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a member of weighted_clusters does not exist",
	Links:    []string{"WeightedClusterSpecifierPlugin::validateClusters (source/common/router/weighted_cluster_specifier.cc)"},
	Run:      clusterRule(envoy.WeightedCluster, "Envoy accepts it and answers this cluster's share of the requests with 503 (response flag NC)"),
})
