package envoy

import (
	"maps"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
)

// ClusterRole is what a reference uses its cluster for.
type ClusterRole uint8

// The roles. Each reference to a cluster has exactly one.
const (
	FilterCluster       ClusterRole = iota // a filter calls it, or anything else that does not have its own role
	RouteCluster                           // a route sends requests there
	WeightedCluster                        // a route sends a share of its requests there
	MirrorCluster                          // copies of requests go there
	ProxiedCluster                         // a TCP or UDP proxy sends its connections there
	AuthzCluster                           // it authorizes requests or connections
	RateLimitCluster                       // it counts requests
	TelemetryCluster                       // it receives logs, traces or statistics
	MemberCluster                          // it is a member of an aggregate or similar cluster
	ConfigServerCluster                    // it serves xDS
	LocalCluster                           // the cluster that Envoy itself belongs to
)

const (
	fieldEnvoyGrpc protoreflect.FullName = "envoy.config.core.v3.GrpcService.EnvoyGrpc.cluster_name"
	fieldHTTPURI   protoreflect.FullName = "envoy.config.core.v3.HttpUri.cluster"
)

// roleByField maps fields that determine the role of a reference on their own.
var roleByField = map[protoreflect.FullName]ClusterRole{
	"envoy.config.route.v3.RouteAction.cluster":                                                               RouteCluster,
	"envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig.default_cluster":                             RouteCluster,
	"envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction.cluster":                             RouteCluster,
	"envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight.cluster_name":                 RouteCluster,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster":                                    RouteCluster,
	"envoy.extensions.filters.network.dubbo_proxy.v3.RouteAction.cluster":                                     RouteCluster,
	"envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction.cluster":                            RouteCluster,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.cluster":                   RouteCluster,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy.cluster": RouteCluster,

	"envoy.extensions.filters.network.rocketmq_proxy.v3.RouteAction.cluster":          RouteCluster,
	"envoy.extensions.filters.network.sip_proxy.v3alpha.RouteAction.cluster":          RouteCluster,
	"envoy.extensions.router.cluster_specifier.golang.v3alpha.Config.default_cluster": RouteCluster,

	"envoy.config.route.v3.WeightedCluster.ClusterWeight.name":                            WeightedCluster,
	"envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name": WeightedCluster,

	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":                                             MirrorCluster,
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster":                  MirrorCluster,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy.cluster": MirrorCluster,

	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.cluster":                            ProxiedCluster,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.name": ProxiedCluster,
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster":                          ProxiedCluster,
	"envoy.extensions.filters.udp.udp_proxy.v3.Route.cluster":                                   ProxiedCluster,

	"envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters":                  MemberCluster,
	"envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry.name":         MemberCluster,
	"envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster.cluster": MemberCluster,

	"envoy.config.metrics.v3.StatsdSink.tcp_cluster_name":                       TelemetryCluster,
	"envoy.config.trace.v3.DatadogConfig.collector_cluster":                     TelemetryCluster,
	"envoy.config.trace.v3.ZipkinConfig.collector_cluster":                      TelemetryCluster,
	"envoy.extensions.tracers.fluentd.v3.FluentdConfig.cluster":                 TelemetryCluster,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster": TelemetryCluster,

	"envoy.config.core.v3.ApiConfigSource.cluster_names":          ConfigServerCluster,
	"envoy.config.bootstrap.v3.ClusterManager.local_cluster_name": LocalCluster,
}

// roleAround maps messages to the role of the gRPC and HTTP services inside them. The innermost message decides.
var roleAround = map[protoreflect.FullName]ClusterRole{
	"envoy.config.core.v3.ApiConfigSource": ConfigServerCluster,

	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz":                       AuthzCluster,
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute":               AuthzCluster,
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz":                    AuthzCluster,
	"envoy.extensions.filters.network.redis_proxy.v3.RedisExternalAuthProvider": AuthzCluster,

	"envoy.config.ratelimit.v3.RateLimitServiceConfig":                             RateLimitCluster,
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig": RateLimitCluster,

	"envoy.config.accesslog.v3.AccessLog": TelemetryCluster,
	"envoy.config.metrics.v3.StatsSink":   TelemetryCluster,
	"envoy.config.trace.v3.Tracing.Http":  TelemetryCluster,
}

// RoleOf returns the role of a reference to a cluster.
func RoleOf(e *graph.Edge) ClusterRole {
	if role, ok := roleByField[e.Field]; ok {
		return role
	}
	if e.Field == fieldEnvoyGrpc || e.Field == fieldHTTPURI {
		for at := e.Place; at != nil; at = at.Parent {
			if role, ok := roleAround[at.Message.Descriptor().FullName()]; ok {
				return role
			}
		}
	}
	return FilterCluster
}

// MemberFields are the fields of the role MemberCluster.
var MemberFields = fieldsOf(MemberCluster)

func fieldsOf(role ClusterRole) (fields []protoreflect.FullName) {
	for _, field := range slices.Sorted(maps.Keys(roleByField)) {
		if roleByField[field] == role {
			fields = append(fields, field)
		}
	}
	return fields
}

// NeedsStaticCluster reports whether Envoy can require a field to name a cluster of the bootstrap.
func NeedsStaticCluster(field protoreflect.FullName) bool { return needsStatic[field] }

var needsStatic = map[protoreflect.FullName]bool{
	fieldEnvoyGrpc: true,
	"envoy.config.core.v3.ApiConfigSource.cluster_names":                        true,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster": true,
}

// CallsGRPC reports whether Envoy itself calls a gRPC service in the cluster of a reference.
func CallsGRPC(e *graph.Edge) bool { return e.Field == fieldEnvoyGrpc }

// Subscribes reports whether Envoy holds a stream open in the cluster of a reference, on which a config server may send resources at any time.
// Over the streams for load reports and health checks, Envoy sends something itself, which fails on a lost connection.
func Subscribes(e *graph.Edge) bool {
	_, source := graph.Around[*corev3.ApiConfigSource](e.Place)
	if !CallsGRPC(e) || source == nil {
		return false
	}
	field := FieldOf(source)
	return field == nil || field.Name() != "load_stats_config" && field.Name() != "hds_config"
}
