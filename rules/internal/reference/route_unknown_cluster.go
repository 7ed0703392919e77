package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a route sends requests to a cluster that does not exist",
	Links: []string{
		"RouteEntryImplBase::validateClusters (source/common/router/config_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/16850",
	},
	Run: clusterRule(envoy.RouteCluster, "Envoy accepts it and answers 503 (response flag NC)"),
})
