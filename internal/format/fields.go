package format

import (
	"regexp"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
)

// Fields maps the fields that hold formats, or messages of texts that are formats, to the version that reads them as such first.
var Fields = map[protoreflect.FullName]string{
	"envoy.config.core.v3.SubstitutionFormatString.text_format":                                                    first,
	"envoy.config.core.v3.SubstitutionFormatString.text_format_source":                                             first,
	"envoy.config.core.v3.SubstitutionFormatString.json_format":                                                    first,
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.format":                                                 first,
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.json_format":                                            first,
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.typed_json_format":                                      first,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.record":                                     first,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.body":                          first,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.attributes":                    first,
	"envoy.config.core.v3.KeyValueAppend.record":                                                                   first,
	"envoy.extensions.clusters.reverse_connection.v3.ReverseConnectionClusterConfig.host_id_format":                first,
	"envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry.value":                                         first,
	"envoy.config.common.mutation_rules.v3.HeaderMutation.append":                                                  first,
	"envoy.config.core.v3.HealthCheck.GrpcHealthCheck.initial_metadata":                                            first,
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck.request_headers_to_add":                                      first,
	"envoy.config.route.v3.Route.request_headers_to_add":                                                           first,
	"envoy.config.route.v3.Route.response_headers_to_add":                                                          first,
	"envoy.config.route.v3.RouteConfiguration.request_headers_to_add":                                              first,
	"envoy.config.route.v3.RouteConfiguration.response_headers_to_add":                                             first,
	"envoy.config.route.v3.VirtualHost.request_headers_to_add":                                                     first,
	"envoy.config.route.v3.VirtualHost.response_headers_to_add":                                                    first,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.request_headers_to_add":                                   first,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.response_headers_to_add":                                  first,
	"envoy.config.route.v3.RouteAction.path_rewrite":                                                               "1.37",
	"envoy.config.route.v3.RouteAction.host_rewrite":                                                               "1.37",
	"envoy.config.route.v3.RedirectAction.path_rewrite":                                                            "1.39",
	"envoy.extensions.access_loggers.stats.v3.Config.Tag.value_format":                                             "1.37",
	"envoy.config.route.v3.Tracing.operation":                                                                      "1.37",
	"envoy.config.route.v3.Tracing.upstream_operation":                                                             "1.37",
	"envoy.type.tracing.v3.CustomTag.value":                                                                        "1.37",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing.operation":          "1.37",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing.upstream_operation": "1.37",
	"envoy.extensions.filters.http.ext_authz.v3.AuthorizationRequest.headers_to_add":                               first,
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit.request_headers_to_add_when_not_enforced":     first,
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit.response_headers_to_add":                      first,
	"envoy.extensions.filters.http.ratelimit.v3.RateLimit.response_headers_to_add":                                 first,
	"envoy.extensions.filters.http.oauth2.v3.OAuth2Config.redirect_uri":                                            "1.40",
	"envoy.extensions.filters.network.http_connection_manager.v3.ResponseMapper.headers_to_add":                    first,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.headers_to_add":                        first,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.hostname":                              first,
	"envoy.extensions.filters.network.reverse_tunnel.v3.Validation.node_id_format":                                 first,
	"envoy.extensions.filters.network.reverse_tunnel.v3.Validation.cluster_id_format":                              first,
	"envoy.extensions.filters.network.reverse_tunnel.v3.Validation.tenant_id_format":                               "1.38",
	"envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy.response_headers_to_add":   first,
	"envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy.request_headers_to_add":               first,
	"envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy.response_headers_to_add":              first,
}

// Reads reports whether the target reads a field as a format.
func Reads(t dataplane.Target, field protoreflect.FullName) bool {
	since, ok := Fields[field]
	return ok && !t.Before(since)
}

// perRequestState is the older name of FILTER_STATE, which Envoy still replaces in the values of headers
// (HeaderParser::translatePerRequestState).
var perRequestState = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%PER_REQUEST_STATE\((.*?)\)%`) })

// Header returns the format that the value of a header is read as.
func Header(value string) string {
	return perRequestState().ReplaceAllString(value, "%FILTER_STATE($1:PLAIN)%")
}
