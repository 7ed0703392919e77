package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mirror-unknown-cluster",
	Severity: lint.Warning,
	Summary:  "a request mirror policy names a cluster that does not exist",
	Why: `The mirrored copy is dropped in silence; the request itself is not touched, so nobody notices that the test environment gets no traffic.

In an inline route table it is an error: ` + "`route: unknown shadow cluster 'x'`" + ` refuses the listener. That also holds for policies of a virtual host
or of the whole table, as soon as one route inherits them.`,
	Links: []string{"RouteCreator::createAndValidateRoute (source/common/router/config_impl.cc)", "ShadowWriterImpl::getClusterFromShadowPolicy (source/common/router/shadow_writer_impl.cc)"},
	Run:   clusterRule(envoy.MirrorCluster, "envoy accepts it and drops the mirrored requests in silence"),
})
