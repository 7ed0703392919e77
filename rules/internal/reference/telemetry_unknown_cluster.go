package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "telemetry-unknown-cluster",
	Severity: lint.Warning,
	Summary:  "the cluster of an access log, a tracer or a stats sink does not exist",
	Why: `gRPC and OpenTelemetry access logs, OpenTelemetry and SkyWalking tracers are loaded without a look at their cluster; logs and spans are then
dropped in silence.

Others do look, and refuse: the Zipkin and Datadog tracers want a cluster that is known when the listener is loaded, the fluentd access
log and the statsd, metrics service and OpenTelemetry (gRPC) stats sinks want one in the bootstrap's static_resources.`,
	Links: []string{
		"Utility::checkCluster (source/common/config/utility.cc)", "ClusterManagerImpl::checkActiveStaticCluster (source/common/upstream/cluster_manager_impl.cc)",
		"GrpcAccessLoggerCacheImpl::createLogger (source/extensions/access_loggers/grpc/grpc_access_log_impl.cc)",
	},
	Run: clusterRule(envoy.TelemetryCluster, "envoy accepts it and drops what it should send there"),
})
