package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "telemetry-unknown-cluster",
	Severity: lint.Warning,
	Summary:  "the cluster of an access log, a tracer or a stats sink does not exist",
	Links: []string{
		"Utility::checkCluster (source/common/config/utility.cc)",
		"ClusterManagerImpl::checkActiveStaticCluster (source/common/upstream/cluster_manager_impl.cc)",
		"GrpcAccessLoggerCacheImpl::createLogger (source/extensions/access_loggers/grpc/grpc_access_log_impl.cc)",
	},
	Run: clusterRule(envoy.TelemetryCluster, "Envoy accepts it and drops the data for it"),
})
