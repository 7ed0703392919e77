package graph

import "google.golang.org/protobuf/reflect/protoreflect"

// reference declares that a field holds names of a kind. A new filter that names a cluster needs one line here and no code.
type reference struct {
	field  protoreflect.FullName // a string, a list of strings, or a map whose keys are the names
	kind   Kind
	source protoreflect.Name     // the sibling field with the ConfigSource that serves the name; empty: Anywhere
	around protoreflect.FullName // where source is not a sibling: the message around the name that has it
	scope  protoreflect.FullName // for names declared inside a resource: the message that holds the declarations
}

// Names that Envoy only compares (HTTPFault.upstream_cluster), prints or passes to a module are not references. The
// test of this table lists those that look like one.
var references = []reference{
	// Clusters, from CDS or the bootstrap: routes and other destinations of requests.
	{field: "envoy.config.route.v3.RouteAction.cluster", kind: Cluster},
	{field: "envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster", kind: Cluster},
	{field: "envoy.config.route.v3.WeightedCluster.ClusterWeight.name", kind: Cluster},
	{field: "envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig.default_cluster", kind: Cluster},
	{field: "envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction.cluster", kind: Cluster},
	{field: "envoy.extensions.router.cluster_specifiers.priority_group.v3.ClusterWeight.cluster_name", kind: Cluster},
	{field: "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.name", kind: Cluster},
	{field: "envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.udp.udp_proxy.v3.Route.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name", kind: Cluster},
	{field: "envoy.extensions.filters.network.dubbo_proxy.v3.RouteAction.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy.cluster", kind: Cluster},

	// Clusters of clusters.
	{field: "envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters", kind: Cluster},
	{field: "envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry.name", kind: Cluster},
	{field: "envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster.cluster", kind: Cluster},

	// Clusters that Envoy itself calls: config servers, filters, telemetry. The first two cover all gRPC and HTTP
	// services, wherever they are nested.
	{field: "envoy.config.core.v3.GrpcService.EnvoyGrpc.cluster_name", kind: Cluster},
	{field: "envoy.config.core.v3.HttpUri.cluster", kind: Cluster},
	{field: "envoy.config.core.v3.ApiConfigSource.cluster_names", kind: Cluster},
	{field: "envoy.config.bootstrap.v3.ClusterManager.local_cluster_name", kind: Cluster},
	{field: "envoy.config.metrics.v3.StatsdSink.tcp_cluster_name", kind: Cluster},
	{field: "envoy.config.trace.v3.DatadogConfig.collector_cluster", kind: Cluster},
	{field: "envoy.config.trace.v3.ZipkinConfig.collector_cluster", kind: Cluster},
	{field: "envoy.extensions.tracers.fluentd.v3.FluentdConfig.cluster", kind: Cluster},
	{field: "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.http.cache_v2.v3.CacheV2Config.override_upstream_cluster", kind: Cluster},
	{field: "envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.http.health_check.v3.HealthCheck.cluster_min_healthy_percentages", kind: Cluster},
	{field: "envoy.extensions.filters.http.mcp_router.v3.McpRouter.McpCluster.cluster", kind: Cluster},
	{field: "envoy.data.dns.v3.DnsTable.DnsEndpoint.cluster_name", kind: Cluster},
	{field: "envoy.data.dns.v3.DnsTable.DnsServiceTarget.cluster_name", kind: Cluster},

	// Extensions of the contrib build.
	{field: "envoy.extensions.filters.network.client_ssl_auth.v3.ClientSSLAuth.auth_api_cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition.cluster_name", kind: Cluster},
	{field: "envoy.extensions.filters.network.rocketmq_proxy.v3.RouteAction.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.sip_proxy.v3alpha.RouteAction.cluster", kind: Cluster},
	{field: "envoy.extensions.router.cluster_specifier.golang.v3alpha.Config.default_cluster", kind: Cluster},

	// Resources from the ConfigSource next to the name. Thrift, Dubbo and the generic proxy have their own types of
	// route tables, which no loader reads.
	{field: "envoy.extensions.filters.network.http_connection_manager.v3.Rds.route_config_name", kind: RouteConfiguration, source: "config_source"},
	{
		field: "envoy.config.route.v3.ScopedRouteConfiguration.route_configuration_name", kind: RouteConfiguration,
		source: "rds_config_source", around: "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes",
	},
	{field: "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.name", kind: Secret, source: "sds_config"},
	{
		field: "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.prefetch_secret_names",
		kind:  Secret, source: "config_source",
	},
	{field: "envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer.name", kind: Runtime, source: "rtds_config"},

	// Names that are declared inside any resource of the snapshot: see carriers.
	{field: "envoy.config.core.v3.EnvoyInternalAddress.server_listener_name", kind: InternalListener},
	{field: "envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig.name", kind: DNSCache},

	// Names that are declared inside the same resource.
	{
		field: "envoy.config.route.v3.RouteAction.cluster_specifier_plugin",
		kind:  ClusterSpecifierPlugin, scope: "envoy.config.route.v3.RouteConfiguration",
	},
	{
		field: "envoy.extensions.filters.http.jwt_authn.v3.JwtRequirement.provider_name",
		kind:  JWTProvider, scope: "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
	},
	{
		field: "envoy.extensions.filters.http.jwt_authn.v3.ProviderWithAudiences.provider_name",
		kind:  JWTProvider, scope: "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
	},
	{field: "envoy.config.overload.v3.Trigger.name", kind: ResourceMonitor, scope: "envoy.config.overload.v3.OverloadManager"},
}

// declarations are the fields that declare names inside a resource: a string, the keys of a map, or the name of a message.
var declarations = map[protoreflect.FullName]Kind{
	"envoy.config.route.v3.ClusterSpecifierPlugin.extension":                 ClusterSpecifierPlugin,
	"envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication.providers": JWTProvider,
	"envoy.config.listener.v3.FilterChain.name":                              FilterChain,
	"envoy.config.overload.v3.ResourceMonitor.name":                          ResourceMonitor,
}

// carriers are the messages whose names other resources can refer to: an internal listener, a cluster with a DNS cache.
// The second name is the field that makes a message a carrier.
var carriers = map[protoreflect.FullName]struct {
	kind Kind
	by   protoreflect.Name
}{
	"envoy.config.listener.v3.Listener":                                {InternalListener, "internal_listener"},
	"envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig": {DNSCache, "dns_cache_config"},
}

// filterConfigs are the maps whose keys name HTTP filters of the managers that use the route table.
var filterConfigs = map[protoreflect.FullName]bool{
	"envoy.config.route.v3.RouteConfiguration.typed_per_filter_config":            true,
	"envoy.config.route.v3.VirtualHost.typed_per_filter_config":                   true,
	"envoy.config.route.v3.Route.typed_per_filter_config":                         true,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.typed_per_filter_config": true,
}

// References that need more than a field with names. build.go and filters.go find them.
const (
	fieldEDS          protoreflect.FullName = "envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name"
	fieldECDS         protoreflect.FullName = "envoy.config.core.v3.ExtensionConfigSource.config_source"
	fieldChainMatcher protoreflect.FullName = "envoy.config.listener.v3.Listener.filter_chain_matcher"
	fieldScopedRoutes protoreflect.FullName = "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source"
	fieldVirtualHosts protoreflect.FullName = "envoy.config.route.v3.Vhds.config_source"
	fieldLbEndpoints  protoreflect.FullName = "envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_collection_name"
)

var referencesByField = func() map[protoreflect.FullName]*reference {
	byField := make(map[protoreflect.FullName]*reference, len(references))
	for i := range references {
		byField[references[i].field] = &references[i]
	}
	return byField
}()

// ClusterFields returns the full names of the fields that name clusters.
func ClusterFields() []protoreflect.FullName {
	var fields []protoreflect.FullName
	for _, ref := range references {
		if ref.kind == Cluster {
			fields = append(fields, ref.field)
		}
	}
	return fields
}
