package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a route sends requests to a cluster that does not exist",
	Why: `Over RDS, Envoy takes a route table as it is and looks the cluster up when a request comes: the answer is 503 with the response flag ` +
		"`NC`" + `, until the cluster arrives.

A table that is inline (in a connection manager, or in a scope) is checked when its listener is loaded, unless it says
` + "`validate_clusters: false`" + `: ` + "`route: unknown cluster 'x'`" + ` refuses the listener, and with it the bootstrap. For a listener in the bootstrap
that moment comes before CDS has been asked, so a cluster that CDS brings does not help. The same check over RDS is what
` + "`validate_clusters: true`" + ` asks for.

Routes that a matcher tree selects are never checked, nor are clusters that a Lua or matcher cluster specifier names.`,
	Links: []string{"RouteEntryImplBase::validateClusters (source/common/router/config_impl.cc)", "https://github.com/envoyproxy/envoy/issues/16850"},
	Run:   clusterRule(envoy.RouteCluster, "envoy accepts it and answers 503 (response flag NC)"),
})
