package envoy

import (
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// points are the fields that hold the configuration of an extension, with the categories in which Envoy searches for the type of the
// configuration. A point without categories accepts whatever the enclosing filter accepts.
//
// Filters, transport sockets and TypedExtensionConfigs only wrap the configuration: the point is the field that holds the wrapping.
var points = map[protoreflect.FullName]string{
	"envoy.config.accesslog.v3.AccessLogFilter.extension_filter":                                                  "envoy.access_loggers.extension_filters",
	"envoy.config.bootstrap.v3.Bootstrap.bootstrap_extensions":                                                    "envoy.bootstrap",
	"envoy.config.bootstrap.v3.Bootstrap.default_regex_engine":                                                    "envoy.regex_engines",
	"envoy.config.bootstrap.v3.Bootstrap.stats_sinks":                                                             "envoy.stats_sinks",
	"envoy.config.cluster.v3.Cluster.QueuingPolicies.pending_rq_policy":                                           "envoy.queue_policy",
	"envoy.config.cluster.v3.Cluster.TransportSocketMatch.transport_socket":                                       "envoy.transport_sockets.upstream",
	"envoy.config.cluster.v3.Cluster.cluster_type":                                                                "envoy.clusters",
	"envoy.config.cluster.v3.Cluster.filters":                                                                     "envoy.filters.upstream_network",
	"envoy.config.cluster.v3.Cluster.transport_socket":                                                            "envoy.transport_sockets.upstream",
	"envoy.config.cluster.v3.Cluster.typed_dns_resolver_config":                                                   "envoy.network.dns_resolver",
	"envoy.config.cluster.v3.Cluster.typed_extension_protocol_options":                                            "",
	"envoy.config.cluster.v3.LoadBalancingPolicy.Policy.typed_extension_config":                                   "envoy.load_balancing_policies",
	"envoy.config.common.key_value.v3.KeyValueStoreConfig.config":                                                 "envoy.common.key_value",
	"envoy.config.core.v3.ApiConfigSource.config_validators":                                                      "envoy.config.validators",
	"envoy.config.core.v3.BindConfig.local_address_selector":                                                      "envoy.upstream.local_address_selector",
	"envoy.config.core.v3.HealthCheck.custom_health_check":                                                        "envoy.health_checkers",
	"envoy.config.core.v3.HealthCheck.event_logger":                                                               "envoy.health_check.event_sinks",
	"envoy.config.core.v3.Http1ProtocolOptions.HeaderKeyFormat.stateful_formatter":                                "envoy.http.stateful_header_formatters",
	"envoy.config.core.v3.HttpService.formatters":                                                                 "envoy.formatter",
	"envoy.config.core.v3.SubstitutionFormatString.formatters":                                                    "envoy.formatter",
	"envoy.config.listener.v3.FilterChain.filters":                                                                "envoy.filters.network",
	"envoy.config.listener.v3.FilterChain.transport_socket":                                                       "envoy.transport_sockets.downstream",
	"envoy.config.listener.v3.Listener.listener_filters":                                                          "envoy.filters.listener",
	"envoy.config.listener.v3.QuicProtocolOptions.connection_debug_visitor_config":                                "envoy.quic.connection_debug_visitor",
	"envoy.config.listener.v3.QuicProtocolOptions.connection_id_generator_config":                                 "envoy.quic.connection_id_generator",
	"envoy.config.listener.v3.QuicProtocolOptions.crypto_stream_config":                                           "envoy.quic.server.crypto_stream",
	"envoy.config.listener.v3.QuicProtocolOptions.proof_source_config":                                            "envoy.quic.proof_source",
	"envoy.config.listener.v3.QuicProtocolOptions.server_preferred_address_config":                                "envoy.quic.server_preferred_address",
	"envoy.config.overload.v3.OverloadAction.typed_config":                                                        "",
	"envoy.config.overload.v3.OverloadManager.resource_monitors":                                                  "envoy.resource_monitors",
	"envoy.config.rbac.v3.Permission.matcher":                                                                     "envoy.rbac.matchers",
	"envoy.config.rbac.v3.Permission.uri_template":                                                                "envoy.path.match",
	"envoy.config.rbac.v3.Principal.custom":                                                                       "envoy.rbac.principals",
	"envoy.config.route.v3.ClusterSpecifierPlugin.extension":                                                      "envoy.router.cluster_specifier_plugin",
	"envoy.config.route.v3.InternalRedirectPolicy.predicates":                                                     "envoy.internal_redirect_predicates",
	"envoy.config.route.v3.RateLimit.Action.extension":                                                            "envoy.rate_limit_descriptors envoy.matching.http.input",
	"envoy.config.route.v3.RetryPolicy.retry_host_predicate":                                                      "envoy.retry_host_predicates",
	"envoy.config.route.v3.RetryPolicy.retry_options_predicates":                                                  "envoy.retry_options_predicates", // no build has any
	"envoy.config.route.v3.RetryPolicy.retry_priority":                                                            "envoy.retry_priorities",
	"envoy.config.route.v3.Route.route_specifiers":                                                                "envoy.router.route_specifiers",
	"envoy.config.route.v3.Route.typed_per_filter_config":                                                         "envoy.filters.http",
	"envoy.config.route.v3.RouteAction.early_data_policy":                                                         "envoy.route.early_data_policy",
	"envoy.config.route.v3.RouteAction.path_rewrite_policy":                                                       "envoy.path.rewrite",
	"envoy.config.route.v3.RouteConfiguration.route_specifiers":                                                   "envoy.router.route_specifiers",
	"envoy.config.route.v3.RouteConfiguration.typed_per_filter_config":                                            "envoy.filters.http",
	"envoy.config.route.v3.RouteMatch.path_match_policy":                                                          "envoy.path.match",
	"envoy.config.route.v3.VirtualHost.route_specifiers":                                                          "envoy.router.route_specifiers",
	"envoy.config.route.v3.VirtualHost.typed_per_filter_config":                                                   "envoy.filters.http",
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.typed_per_filter_config":                                 "envoy.filters.http",
	"envoy.config.tap.v3.OutputSink.custom_sink":                                                                  "envoy.tap.sinks",
	"envoy.config.trace.v3.OpenTelemetryConfig.exporter":                                                          "envoy.tracers.opentelemetry.exporters", // no build has any
	"envoy.config.trace.v3.OpenTelemetryConfig.resource_detectors":                                                "envoy.tracers.opentelemetry.resource_detectors",
	"envoy.config.trace.v3.OpenTelemetryConfig.sampler":                                                           "envoy.tracers.opentelemetry.samplers",
	"envoy.config.trace.v3.Tracing.http":                                                                          "envoy.tracers",
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.formatters":                                "envoy.formatter",
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.formatters":                   "envoy.formatter",
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.resource_detectors":           "envoy.tracers.opentelemetry.resource_detectors",
	"envoy.extensions.clusters.dns.v3.DnsCluster.typed_dns_resolver_config":                                       "envoy.network.dns_resolver",
	"envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig.typed_dns_resolver_config":                   "envoy.network.dns_resolver",
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher.extension_config":                                   "envoy.filters.http envoy.filters.http.upstream envoy.filters.network",
	"envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManager.filters":                              "envoy.http.ai_filters",
	"envoy.extensions.filters.http.aws_eventstream_parser.v3.AwsEventstreamParser.ProcessingRules.content_parser": "envoy.content_parsers",
	"envoy.extensions.filters.http.cache.v3.CacheConfig.typed_config":                                             "envoy.http.cache",
	"envoy.extensions.filters.http.cache_v2.v3.CacheV2Config.typed_config":                                        "envoy.http.cache_v2",
	"envoy.extensions.filters.http.composite.v3.ExecuteFilterAction.typed_config":                                 "envoy.filters.http envoy.filters.http.upstream",
	"envoy.extensions.filters.http.compressor.v3.Compressor.compressor_library":                                   "envoy.compression.compressor",
	"envoy.extensions.filters.http.compressor.v3.CompressorOverrides.compressor_library":                          "envoy.compression.compressor",
	"envoy.extensions.filters.http.credential_injector.v3.CredentialInjector.credential":                          "envoy.http.injected_credentials",
	"envoy.extensions.filters.http.decompressor.v3.Decompressor.decompressor_library":                             "envoy.compression.decompressor",
	"envoy.extensions.filters.http.ext_proc.v3.ExtProcOverrides.processing_request_modifier":                      "envoy.http.ext_proc.processing_request_modifiers",
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor.on_processing_response":                          "envoy.http.ext_proc.response_processors",
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor.processing_request_modifier":                     "envoy.http.ext_proc.processing_request_modifiers",
	"envoy.extensions.filters.http.filter_chain.v3.FilterChain.filters":                                           "envoy.filters.http",
	"envoy.extensions.filters.http.geoip.v3.Geoip.provider":                                                       "envoy.geoip_providers",
	"envoy.extensions.filters.http.header_mutation.v3.Mutations.formatters":                                       "envoy.formatter",
	"envoy.extensions.filters.http.router.v3.Router.upstream_http_filters":                                        "envoy.filters.http.upstream",
	"envoy.extensions.filters.http.sse_to_metadata.v3.SseToMetadata.ProcessingRules.content_parser":               "envoy.content_parsers",
	"envoy.extensions.filters.http.stateful_session.v3.StatefulSession.session_state":                             "envoy.http.stateful_session",
	"envoy.extensions.filters.network.generic_proxy.v3.GenericProxy.codec_config":                                 "envoy.generic_proxy.codecs",
	"envoy.extensions.filters.network.generic_proxy.v3.GenericProxy.filters":                                      "envoy.generic_proxy.filters",
	"envoy.extensions.filters.network.geoip.v3.Geoip.provider":                                                    "envoy.geoip_providers",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.formatters":                           "envoy.formatter",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig.request_id_extension":                 "envoy.request_id",
	"envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy.thrift_filters":                                 "envoy.thrift_proxy.filters",
	"envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig.ClientContextConfig.typed_dns_resolver_config":    "envoy.network.dns_resolver",
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.UdpTunnelingConfig.formatters":                      "envoy.formatter",
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.session_filters":                                    "envoy.filters.udp.session",
	"envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy.modify_request_headers_action":       "envoy.http.custom_response.modify_request_headers_action", // no build has any
	"envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig.resource_detectors":                                 "envoy.tracers.opentelemetry.resource_detectors",
	"envoy.extensions.tracers.opentelemetry.samplers.v3.ParentBasedSamplerConfig.wrapped_sampler":                 "envoy.tracers.opentelemetry.samplers",
	"envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport.transport_socket":           "envoy.transport_sockets.upstream",
	"envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport.transport_socket":          "envoy.transport_sockets.upstream",
	"envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport.transport_socket":        "envoy.transport_sockets.upstream",
	"envoy.extensions.transport_sockets.tap.v3.Tap.transport_socket":                                              "envoy.transport_sockets.downstream envoy.transport_sockets.upstream",
	"envoy.extensions.transport_sockets.tcp_stats.v3.Config.transport_socket":                                     "envoy.transport_sockets.downstream envoy.transport_sockets.upstream",
	"envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config.certificate_mapper":         "envoy.tls.certificate_mappers envoy.tls.upstream_certificate_mappers",
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.custom_validator_config":              "",
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.custom_handshaker":                                "envoy.tls_handshakers",
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.custom_tls_certificate_selector":                  "envoy.tls.certificate_selectors envoy.tls.upstream_certificate_selectors",
	"envoy.extensions.upstreams.http.v3.HttpProtocolOptions.http_filters":                                         "envoy.filters.http.upstream",
	"envoy.type.matcher.v3.StringMatcher.custom":                                                                  "envoy.string_matcher",

	hcm + ".Tracing.provider":                 "envoy.tracers",
	hcm + ".UpgradeConfig.filters":            "envoy.filters.http",
	hcm + ".early_header_mutation_extensions": "envoy.http.early_header_mutation",
	hcm + ".http_filters":                     "envoy.filters.http",
	hcm + ".original_ip_detection_extensions": "envoy.http.original_ip_detection",
	hcm + ".request_id_extension":             "envoy.request_id",

	// The filter that holds a matcher decides which inputs and actions it accepts.
	"envoy.config.common.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.custom_match": "",
	"envoy.config.common.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input":        "",
	"envoy.config.common.matcher.v3.Matcher.MatcherTree.custom_match":                           "",
	"envoy.config.common.matcher.v3.Matcher.MatcherTree.input":                                  "",
	"envoy.config.common.matcher.v3.Matcher.OnMatch.action":                                     "",
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.custom_match":            "",
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input":                   "",
	"xds.type.matcher.v3.Matcher.MatcherTree.custom_match":                                      "",
	"xds.type.matcher.v3.Matcher.MatcherTree.input":                                             "",
	"xds.type.matcher.v3.Matcher.OnMatch.action":                                                "",

	"xds.type.matcher.v3.StringMatcher.custom": "envoy.string_matcher",
}

const hcm = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"

// accessLog is a wrapping that means the same in every field.
const accessLog protoreflect.FullName = "envoy.config.accesslog.v3.AccessLog"

// wrappings are the messages that only give an extension's configuration a name.
var wrappings = map[protoreflect.FullName]bool{
	accessLog: true,
	"envoy.config.accesslog.v3.ExtensionFilter":                                      true,
	"envoy.config.cluster.v3.Cluster.CustomClusterType":                              true,
	"envoy.config.cluster.v3.Filter":                                                 true,
	"envoy.config.core.v3.ExtensionConfigSource":                                     true,
	"envoy.config.core.v3.HealthCheck.CustomHealthCheck":                             true,
	"envoy.config.core.v3.TransportSocket":                                           true,
	"envoy.config.core.v3.TypedExtensionConfig":                                      true,
	"envoy.config.listener.v3.Filter":                                                true,
	"envoy.config.listener.v3.ListenerFilter":                                        true,
	"envoy.config.metrics.v3.StatsSink":                                              true,
	"envoy.config.overload.v3.ResourceMonitor":                                       true,
	"envoy.config.route.v3.FilterConfig":                                             true,
	"envoy.config.route.v3.RetryPolicy.RetryHostPredicate":                           true,
	"envoy.config.route.v3.RetryPolicy.RetryPriority":                                true,
	"envoy.config.trace.v3.Tracing.Http":                                             true,
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter":         true,
	"envoy.extensions.filters.network.http_connection_manager.v3.RequestIDExtension": true,
	"envoy.extensions.filters.network.thrift_proxy.v3.ThriftFilter":                  true,
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.SessionFilter":         true,
	"google.protobuf.Any":                                                            true,
	"xds.core.v3.TypedExtensionConfig":                                               true,
}

// Point is a place in a configuration where Envoy expects an extension.
type Point struct {
	Field      protoreflect.FullName // empty: a resource of ECDS
	Categories []string              // empty: any
	Holder     *graph.Place          // the message that has the field
	Wrapping   *graph.Place          // the outermost wrapping: the value of the field
}

// PointOf returns the point of an Any or of the wrapping around one. ok is false if the place is not a known extension point.
func PointOf(at *graph.Place) (p Point, ok bool) {
	p.Wrapping = at
	for at.Parent != nil && wrappings[at.Parent.Message.Descriptor().FullName()] {
		at = at.Parent
		if at.Message.Descriptor().FullName() != anyName {
			p.Wrapping = at
		}
	}
	p.Holder = at.Parent
	if p.Holder == nil {
		return p.alone(at.Resource)
	}
	if at.Message.Descriptor().FullName() == accessLog {
		p.Categories = []string{"envoy.access_loggers"}
		return p, true
	}
	fd := FieldOf(at)
	if fd == nil {
		return p, false
	}
	p.Field = fd.FullName()
	categories, ok := points[p.Field]
	if l, listener := p.Holder.Message.Interface().(*listenerv3.Listener); listener && isUDP(l) {
		if categories = "envoy.filters.udp_listener"; l.GetUdpListenerConfig().GetQuicOptions() != nil {
			categories = "" // Envoy does not report its listener filters for QUIC
		}
	}
	p.Categories = strings.Fields(categories)
	if len(p.Categories) == 2 && p.Categories[0] == "envoy.transport_sockets.downstream" {
		p.Categories = oneDirection(at.Resource.Kind, p.Categories)
	}
	return p, ok
}

// oneDirection returns the category of a transport socket in another one, which is that of the resource around.
func oneDirection(kind graph.Kind, both []string) []string {
	switch kind {
	case graph.Listener:
		return both[:1]
	case graph.Cluster:
		return both[1:]
	}
	return both
}

// alone completes the point of a message without a holder: a resource of ECDS, or a patch.
func (p Point) alone(r *graph.Resource) (Point, bool) {
	if r.Kind != graph.Patch {
		return p, r.Kind == graph.ExtensionConfig
	}
	name := r.Message.ProtoReflect().Descriptor().FullName()
	switch {
	case name == accessLog:
		p.Categories = []string{"envoy.access_loggers"}
		return p, true
	case r.Into == "":
		return p, name == "envoy.config.core.v3.TypedExtensionConfig"
	}
	p.Field = r.Into
	categories, ok := points[p.Field]
	if p.Categories = strings.Fields(categories); p.Field == "envoy.config.listener.v3.Listener.listener_filters" {
		p.Categories = append(p.Categories, "envoy.filters.udp_listener") // the patched listener can be a UDP listener
	}
	return p, ok
}

// LookedUpByName maps the points where Envoy searches for an extension by its name instead of its type to the category that it searches.
var LookedUpByName = map[protoreflect.FullName]string{
	"envoy.extensions.filters.http.stateful_session.v3.StatefulSession.session_state": "envoy.http.stateful_session",
	"envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy.dubbo_filters":        "envoy.dubbo_proxy.filters",
}

// isUDP reports whether a listener receives datagrams. It then has other listener filters.
func isUDP(l *listenerv3.Listener) bool {
	return l.GetAddress().GetSocketAddress().GetProtocol() == corev3.SocketAddress_UDP
}

const anyName protoreflect.FullName = "google.protobuf.Any"

// FieldOf returns the field of the parent that holds a message, or nil for the content of an Any, which has the same path as the Any.
func FieldOf(at *graph.Place) protoreflect.FieldDescriptor {
	if at.Parent == nil || at.Path == at.Parent.Path {
		return nil
	}
	return at.Parent.Message.Descriptor().Fields().ByName(protoreflect.Name(at.Path.Name()))
}

// Late reports whether Envoy loads the extension only at a real start, not in --mode validate (setStatsMatcher; LdsApiImpl, which the server of
// that mode does not make).
func (p Point) Late() bool {
	for at := p.Holder; at != nil; at = at.Parent {
		if at.Message.Descriptor().FullName() == "envoy.config.metrics.v3.StatsConfig" || FieldOf(at) != nil && FieldOf(at).FullName() == ldsConfig {
			return true
		}
	}
	return false
}

const ldsConfig = "envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config"

// proactiveMonitor is a resource monitor whose category is not in the list of extensions that Envoy reports.
const proactiveMonitor = "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig"

// Takes reports whether the point accepts configurations of a type.
func (p Point) Takes(x *dataplane.Extensions, name protoreflect.FullName) bool {
	found := x.ByTypeURL(string(name))
	if len(p.Categories) == 0 || name == proactiveMonitor && slices.Contains(p.Categories, "envoy.resource_monitors") {
		return true
	}
	for _, e := range found {
		for _, c := range p.Categories {
			if e.Category == c {
				return true
			}
		}
	}
	return false
}

// IsWrapping reports whether a message only gives an extension's configuration a name.
func IsWrapping(name protoreflect.FullName) bool { return wrappings[name] }
