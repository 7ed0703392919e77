package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mirror-unknown-cluster",
	Severity: lint.Warning,
	Summary:  "a request mirror policy names a cluster that does not exist",
	Links: []string{
		"RouteCreator::createAndValidateRoute (source/common/router/config_impl.cc)",
		"ShadowWriterImpl::getClusterFromShadowPolicy (source/common/router/shadow_writer_impl.cc)",
	},
	Run: clusterRule(envoy.MirrorCluster, "Envoy accepts it and silently drops the mirrored requests"),
})
