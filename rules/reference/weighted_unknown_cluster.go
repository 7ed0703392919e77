package reference

import "github.com/xdslint/xdslint/lint"

var _ = Rules.Add(&lint.Rule{
	Name:     ruleWeighted,
	Severity: lint.Error,
	Summary:  "a member of weighted_clusters does not exist",
	Links:    []string{"WeightedClusterSpecifierPlugin::validateClusters (source/common/router/weighted_cluster_specifier.cc)"},
	Run:      clusterRule(ruleWeighted, "envoy accepts it and answers the cluster's share of the requests with 503 (response flag NC)"),
})
