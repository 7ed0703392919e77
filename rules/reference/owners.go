package reference

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
)

// The rules that share the references to clusters between them.
const (
	ruleRoute     = "route-unknown-cluster"
	ruleWeighted  = "weighted-unknown-cluster"
	ruleMirror    = "mirror-unknown-cluster"
	ruleTCP       = "tcp-proxy-unknown-cluster"
	ruleAuthz     = "authz-unknown-cluster"
	ruleRateLimit = "ratelimit-unknown-cluster"
	ruleTelemetry = "telemetry-unknown-cluster"
	ruleAggregate = "aggregate-unknown-or-cyclic"
	ruleXDS       = "xds-cluster-not-static"
	ruleLocal     = "local-cluster-missing"
	ruleFilter    = "filter-unknown-cluster" // and all that no other rule claims
)

const (
	fieldEnvoyGrpc protoreflect.FullName = "envoy.config.core.v3.GrpcService.EnvoyGrpc.cluster_name"
	fieldHTTPURI   protoreflect.FullName = "envoy.config.core.v3.HttpUri.cluster"
)

// ownerByField says which rule a reference belongs to, where its field alone tells.
var ownerByField = map[protoreflect.FullName]string{
	"envoy.config.route.v3.RouteAction.cluster":                                                               ruleRoute,
	"envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig.default_cluster":                             ruleRoute,
	"envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction.cluster":                             ruleRoute,
	"envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight.cluster_name":                 ruleRoute,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster":                                    ruleRoute,
	"envoy.extensions.filters.network.dubbo_proxy.v3.RouteAction.cluster":                                     ruleRoute,
	"envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction.cluster":                            ruleRoute,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.cluster":                   ruleRoute,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy.cluster": ruleRoute,

	"envoy.extensions.filters.network.rocketmq_proxy.v3.RouteAction.cluster":          ruleRoute,
	"envoy.extensions.filters.network.sip_proxy.v3alpha.RouteAction.cluster":          ruleRoute,
	"envoy.extensions.router.cluster_specifier.golang.v3alpha.Config.default_cluster": ruleRoute,

	"envoy.config.route.v3.WeightedCluster.ClusterWeight.name":                            ruleWeighted,
	"envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name": ruleWeighted,

	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":                                             ruleMirror,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster":                  ruleMirror,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy.cluster": ruleMirror,

	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.cluster":                            ruleTCP,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.name": ruleTCP,
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster":                          ruleTCP,
	"envoy.extensions.filters.udp.udp_proxy.v3.Route.cluster":                                   ruleTCP,

	"envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters":                  ruleAggregate,
	"envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry.name":         ruleAggregate,
	"envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster.cluster": ruleAggregate,

	"envoy.config.metrics.v3.StatsdSink.tcp_cluster_name":                       ruleTelemetry,
	"envoy.config.trace.v3.DatadogConfig.collector_cluster":                     ruleTelemetry,
	"envoy.config.trace.v3.ZipkinConfig.collector_cluster":                      ruleTelemetry,
	"envoy.extensions.tracers.fluentd.v3.FluentdConfig.cluster":                 ruleTelemetry,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster": ruleTelemetry,

	"envoy.config.core.v3.ApiConfigSource.cluster_names":          ruleXDS,
	"envoy.config.bootstrap.v3.ClusterManager.local_cluster_name": ruleLocal,
}

// ownerAround says which rule the gRPC and HTTP services inside a message belong to; the innermost message decides.
var ownerAround = map[protoreflect.FullName]string{
	"envoy.config.core.v3.ApiConfigSource": ruleXDS,

	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz":                       ruleAuthz,
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute":               ruleAuthz,
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz":                    ruleAuthz,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisExternalAuthProvider": ruleAuthz,

	"envoy.config.ratelimit.v3.RateLimitServiceConfig":                             ruleRateLimit,
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig": ruleRateLimit,

	"envoy.config.accesslog.v3.AccessLog": ruleTelemetry,
	"envoy.config.metrics.v3.StatsSink":   ruleTelemetry,
	"envoy.config.trace.v3.Tracing.Http":  ruleTelemetry,
}

// owner tells which rule a reference to a cluster belongs to: each to exactly one.
func owner(e *graph.Edge) string {
	if rule := ownerByField[e.Field]; rule != "" {
		return rule
	}
	if e.Field == fieldEnvoyGrpc || e.Field == fieldHTTPURI {
		for at := e.Place; at != nil; at = at.Parent {
			if rule := ownerAround[at.Message.Descriptor().FullName()]; rule != "" {
				return rule
			}
		}
	}
	return ruleFilter
}
