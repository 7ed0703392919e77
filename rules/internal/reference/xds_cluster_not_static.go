package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "xds-cluster-not-static",
	Severity: lint.Error,
	Summary:  "the cluster of a config server does not exist, comes from CDS, or is itself discovered over EDS",
	Why: `A config server has to be reachable before any config server has answered: its cluster stands in static_resources and has addresses of its
own (not EDS, unless from a file). Otherwise Envoy refuses the configuration: ` + "`Unknown gRPC client cluster 'x'`" + ` for ads_config,
` + "`envoy.config.core.v3.ApiConfigSource must have a statically defined non-EDS cluster`" + ` for the others.

Not all of it shows in ` + "`--mode validate`" + `: lds_config, hds_config and load_stats_config are opened at a real start only, which then ends
at once (for hds_config and load_stats_config with status 0 and a warning in the log). DELTA_GRPC and SDS
sources are never checked; there a cluster from CDS works, and one that does not exist leaves the subscription without an answer.`,
	Links: []string{
		"Utility::checkApiConfigSourceSubscriptionBackingCluster (source/common/config/utility.cc)",
		"ClusterManagerImpl::checkActiveStaticCluster (source/common/upstream/cluster_manager_impl.cc)", "https://github.com/envoyproxy/envoy/issues/12161",
	},
	Run: clusterRule(envoy.ConfigServerCluster, "envoy never reaches the config server: what it serves does not come"),
})
