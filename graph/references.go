package graph

import "google.golang.org/protobuf/reflect/protoreflect"

// reference says that a field holds names of a kind. A new filter that names a cluster costs a line here and no code.
type reference struct {
	field  protoreflect.FullName // a string, a list of strings, or a map whose keys are the names
	kind   Kind
	source protoreflect.Name     // the sibling field with the ConfigSource that serves the name; empty: Anywhere
	scope  protoreflect.FullName // for names that live inside one resource: the message that holds their declarations
}

var references = []reference{
	// Clusters, which CDS or the bootstrap gives.
	{field: "envoy.config.route.v3.RouteAction.cluster", kind: Cluster},
	{field: "envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster", kind: Cluster},
	{field: "envoy.config.route.v3.WeightedCluster.ClusterWeight.name", kind: Cluster},
	{field: "envoy.config.core.v3.GrpcService.EnvoyGrpc.cluster_name", kind: Cluster},
	{field: "envoy.config.core.v3.HttpUri.cluster", kind: Cluster},
	{field: "envoy.config.core.v3.ApiConfigSource.cluster_names", kind: Cluster},
	{field: "envoy.config.bootstrap.v3.ClusterManager.local_cluster_name", kind: Cluster},
	{field: "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.cluster", kind: Cluster},
	{field: "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.name", kind: Cluster},
	{field: "envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters", kind: Cluster},

	// Resources that a ConfigSource beside the name serves.
	{field: "envoy.extensions.filters.network.http_connection_manager.v3.Rds.route_config_name", kind: RouteConfiguration, source: "config_source"},
	{field: "envoy.config.route.v3.ScopedRouteConfiguration.route_configuration_name", kind: RouteConfiguration},
	{field: "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.name", kind: Secret, source: "sds_config"},

	// Names that live inside one resource.
	{field: "envoy.config.route.v3.RouteAction.cluster_specifier_plugin", kind: ClusterSpecifierPlugin, scope: "envoy.config.route.v3.RouteConfiguration"},
}

// declarations are the fields that give names which live inside one resource; a string, or a map by its keys.
var declarations = map[protoreflect.FullName]Kind{
	"envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication.providers": JWTProvider,
	"envoy.config.listener.v3.FilterChain.name":                              FilterChain,
}

var referencesByField = func() map[protoreflect.FullName]*reference {
	byField := make(map[protoreflect.FullName]*reference, len(references))
	for i := range references {
		byField[references[i].field] = &references[i]
	}
	return byField
}()
