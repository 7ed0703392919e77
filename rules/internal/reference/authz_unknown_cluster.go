package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "authz-unknown-cluster",
	Severity: lint.Error,
	Summary:  "the cluster of an external authorization service does not exist",
	Links: []string{
		"ExtAuthzFilterConfig::createFilterFactoryFromProtoTyped (source/extensions/filters/http/ext_authz/config.cc)",
		"https://github.com/envoyproxy/envoy/issues/2785",
	},
	Run: clusterRule(envoy.AuthzCluster, "Envoy accepts it, and every check fails: all requests are denied, or allowed with failure_mode_allow"),
})
