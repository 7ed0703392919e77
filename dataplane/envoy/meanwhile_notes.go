package envoy

import "google.golang.org/protobuf/reflect/protoreflect"

// noteByField says what Envoy does if the cluster in a field is missing, where that differs from the general note of the role.
var noteByField = map[protoreflect.FullName]string{
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster":                                    "Envoy answers calls with an internal error: unknown cluster",
	"envoy.extensions.filters.network.thrift_proxy.v3.WeightedCluster.ClusterWeight.name":                     "Envoy answers its share of the calls with an internal error: unknown cluster",
	"envoy.extensions.filters.network.dubbo_proxy.v3.RouteAction.cluster":                                     "Envoy answers calls with a server error: unknown cluster",
	"envoy.extensions.filters.network.generic_proxy.action.v3.RouteAction.cluster":                            "Envoy answers requests with the error cluster_not_found",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.cluster":                   "Envoy answers commands with \"no upstream host\"",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.ReadCommandPolicy.cluster": "Envoy answers read commands with \"no upstream host\"",

	"envoy.extensions.filters.udp.udp_proxy.v3.Route.cluster":          "Envoy drops the datagrams",
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster": "Envoy drops the datagrams",

	"envoy.extensions.clusters.composite.v3.ClusterConfig.ClusterEntry.name":         "Envoy finds no host for the attempts that are meant for it",
	"envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpCluster.cluster": "everything that this server offers is missing",

	"envoy.data.dns.v3.DnsTable.DnsEndpoint.cluster_name":      "Envoy answers queries for it without an address",
	"envoy.data.dns.v3.DnsTable.DnsServiceTarget.cluster_name": "Envoy omits the target from its answers",

	"envoy.extensions.filters.http.health_check.v3.HealthCheck.cluster_min_healthy_percentages": "Envoy answers health checks with 503",
	"envoy.extensions.filters.http.cache_v2.v3.CacheV2Config.override_upstream_cluster":         "Envoy answers requests with 503 unless the response is in the cache",
	"envoy.extensions.filters.http.mcp_router.v3.McpRouter.McpCluster.cluster":                  "everything that this backend offers is missing",
}

// MissingClusterNote returns the note that says what Envoy does if the cluster in a field does not exist. It is empty if that depends only
// on the role of the reference.
func MissingClusterNote(field protoreflect.FullName) string { return noteByField[field] }
