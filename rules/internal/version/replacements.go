package version

// replacements maps deprecated fields and enum values to what to write instead, if the API has a replacement.
var replacements = map[string]string{
	"envoy.config.bootstrap.v3.Admin.access_log_path":             "write access_log, with a FileAccessLog",
	"envoy.config.bootstrap.v3.Bootstrap.dns_resolution_config":   "write typed_dns_resolver_config, with a CaresDnsResolverConfig",
	"envoy.config.bootstrap.v3.Bootstrap.tracing":                 "write tracing.provider into each http_connection_manager",
	"envoy.config.bootstrap.v3.Bootstrap.use_tcp_for_dns_lookups": "write typed_dns_resolver_config, with dns_resolver_options.use_tcp_for_dns_lookups",
	"envoy.config.bootstrap.v3.Bootstrap.watchdog":                "write watchdogs.main_thread_watchdog and watchdogs.worker_watchdog",

	"envoy.config.cluster.v3.Cluster.common_http_protocol_options":   protocolOptions + "common_http_protocol_options",
	"envoy.config.cluster.v3.Cluster.http2_protocol_options":         protocolOptions + "explicit_http_config.http2_protocol_options",
	"envoy.config.cluster.v3.Cluster.http_protocol_options":          protocolOptions + "explicit_http_config.http_protocol_options",
	"envoy.config.cluster.v3.Cluster.max_requests_per_connection":    protocolOptions + "common_http_protocol_options.max_requests_per_connection",
	"envoy.config.cluster.v3.Cluster.protocol_selection":             protocolOptions + "explicit_http_config or use_downstream_protocol_config",
	"envoy.config.cluster.v3.Cluster.upstream_http_protocol_options": protocolOptions + "upstream_http_protocol_options",
	"envoy.config.cluster.v3.Cluster.track_timeout_budgets":          "write track_cluster_stats.timeout_budgets",
	"envoy.config.cluster.v3.Cluster.dns_failure_refresh_rate":       dnsCluster,
	"envoy.config.cluster.v3.Cluster.dns_jitter":                     dnsCluster,
	"envoy.config.cluster.v3.Cluster.dns_refresh_rate":               dnsCluster,
	"envoy.config.cluster.v3.Cluster.respect_dns_ttl":                dnsCluster,
	"envoy.config.cluster.v3.Cluster.dns_resolution_config":          "write typed_dns_resolver_config, with a CaresDnsResolverConfig",
	"envoy.config.cluster.v3.Cluster.dns_resolvers":                  "write typed_dns_resolver_config, with a CaresDnsResolverConfig and its resolvers",
	"envoy.config.cluster.v3.Cluster.use_tcp_for_dns_lookups":        "write typed_dns_resolver_config, with dns_resolver_options.use_tcp_for_dns_lookups",

	"envoy.config.core.v3.V2": "write V3, the only version that Envoy supports",
	"envoy.config.core.v3.ApiConfigSource.DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE":       "write GRPC, DELTA_GRPC or REST",
	"envoy.config.core.v3.BindConfig.additional_source_addresses":                      "write extra_source_addresses",
	"envoy.config.core.v3.ConfigSource.path":                                           "write path_config_source: {path: …}",
	"envoy.config.core.v3.HeaderValueOption.append":                                    "write append_action: APPEND_IF_EXISTS_OR_ADD for true, OVERWRITE_IF_EXISTS_OR_ADD for false",
	"envoy.config.core.v3.HealthCheck.event_log_path":                                  "write event_logger, with a HealthCheckEventFileSink",
	"envoy.config.core.v3.Http2ProtocolOptions.stream_error_on_invalid_http_messaging": "write override_stream_error_on_invalid_http_message",
	"envoy.config.core.v3.Node.listening_addresses":                                    "remove it, and use metadata",
	"envoy.config.core.v3.SubstitutionFormatString.text_format":                        "write text_format_source: {inline_string: …}",

	"envoy.config.listener.v3.FilterChain.use_proxy_proto": "write a listener filter envoy.filters.listener.proxy_protocol",
	"envoy.config.listener.v3.Listener.reuse_port":         "write enable_reuse_port",
	"envoy.config.listener.v3.Listener.deprecated_v1":      "write bind_to_port",

	"envoy.config.rbac.v3.Permission.metadata": "write sourced_metadata",
	"envoy.config.rbac.v3.Principal.metadata":  "write sourced_metadata",
	"envoy.config.rbac.v3.Principal.source_ip": "write direct_remote_ip for the peer's address, or remote_ip for the one that Envoy trusts",

	"envoy.config.route.v3.HeaderMatcher.contains_match":               "write string_match: {contains: …}",
	"envoy.config.route.v3.HeaderMatcher.exact_match":                  "write string_match: {exact: …}",
	"envoy.config.route.v3.HeaderMatcher.prefix_match":                 "write string_match: {prefix: …}",
	"envoy.config.route.v3.HeaderMatcher.safe_regex_match":             "write string_match: {safe_regex: …}",
	"envoy.config.route.v3.HeaderMatcher.suffix_match":                 "write string_match: {suffix: …}",
	"envoy.config.route.v3.RateLimit.Action.dynamic_metadata":          "write metadata, with source: DYNAMIC",
	"envoy.config.route.v3.Route.per_request_buffer_limit_bytes":       "write request_body_buffer_limit",
	"envoy.config.route.v3.RouteAction.cors":                           perFilterCORS,
	"envoy.config.route.v3.RouteAction.grpc_timeout_offset":            "write max_stream_duration.grpc_timeout_header_offset",
	"envoy.config.route.v3.RouteAction.include_vh_rate_limits":         "write a typed_per_filter_config for the rate limit filter, with vh_rate_limits: INCLUDE",
	"envoy.config.route.v3.RouteAction.internal_redirect_action":       "write internal_redirect_policy",
	"envoy.config.route.v3.RouteAction.max_grpc_timeout":               "write max_stream_duration.grpc_timeout_header_max",
	"envoy.config.route.v3.RouteAction.max_internal_redirects":         "write internal_redirect_policy.max_internal_redirects",
	"envoy.config.route.v3.VirtualHost.cors":                           perFilterCORS,
	"envoy.config.route.v3.VirtualHost.per_request_buffer_limit_bytes": "write request_body_buffer_limit",
	"envoy.config.route.v3.WeightedCluster.total_weight":               "remove it: Envoy adds up the weights",

	"envoy.config.trace.v3.ZipkinConfig.DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE": "write collector_endpoint_version: HTTP_JSON or HTTP_PROTO",
	"envoy.config.trace.v3.LightstepConfig.access_token_file":                  "write access_token",

	"envoy.extensions.access_loggers.file.v3.FileAccessLog.format":                                 "write log_format: {text_format_source: {inline_string: …}}",
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.json_format":                            "write log_format: {json_format: …}",
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.typed_json_format":                      "write log_format: {json_format: …}",
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.common_config": "write grpc_service and log_name",

	"envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig.dns_resolution_config":   "write typed_dns_resolver_config, with a CaresDnsResolverConfig",
	"envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig.use_tcp_for_dns_lookups": "write typed_dns_resolver_config, with dns_resolver_options.use_tcp_for_dns_lookups",
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher.matcher":                        "write xds_matcher",

	"envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig.alternate_protocols_cache_options": "remove it: the cluster's HttpProtocolOptions set it",
	"envoy.extensions.filters.http.compressor.v3.Compressor.content_length":                                     responseDirection + "common_config.min_content_length",
	"envoy.extensions.filters.http.compressor.v3.Compressor.content_type":                                       responseDirection + "common_config.content_type",
	"envoy.extensions.filters.http.compressor.v3.Compressor.disable_on_etag_header":                             responseDirection + "disable_on_etag_header",
	"envoy.extensions.filters.http.compressor.v3.Compressor.remove_accept_encoding_header":                      responseDirection + "remove_accept_encoding_header",
	"envoy.extensions.filters.http.compressor.v3.Compressor.runtime_enabled":                                    responseDirection + "common_config.enabled",
	"envoy.extensions.filters.http.ext_authz.v3.AuthorizationRequest.allowed_headers":                           "write allowed_headers into the ExtAuthz itself",
	"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig.http_uri":                                  "write cluster and timeout",
	"envoy.extensions.filters.http.lua.v3.Lua.inline_code":                                                      "write default_source_code: {inline_string: …}",
	"envoy.extensions.filters.http.router.v3.Router.start_child_span":                                           "write tracing.spawn_upstream_span into the http_connection_manager",
	"envoy.extensions.filters.http.set_metadata.v3.Config.metadata_namespace":                                   "write metadata, a list",
	"envoy.extensions.filters.http.set_metadata.v3.Config.value":                                                "write metadata, a list",

	"envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy.route_config":                                           "write multiple_route_config",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.access_log_flush_interval":       "write access_log_options.access_log_flush_interval",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.flush_access_log_on_new_request": "write access_log_options.flush_access_log_on_new_request",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.downstream_auth_password":                               "write downstream_auth_passwords, a list",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.access_log_flush_interval":                                  "write access_log_options.access_log_flush_interval",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.flush_access_log_on_connected":                              "write access_log_options.flush_access_log_on_connected",
	"envoy.extensions.filters.network.thrift_proxy.v3.TWITTER":                                                          "write another protocol: Envoy no longer supports this one",
	"envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.cluster":                                                  "write a matcher, with a Route action",

	"envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash.hash_balance_factor":      "write consistent_hashing_lb_config.hash_balance_factor",
	"envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash.use_hostname_for_hashing": "write consistent_hashing_lb_config.use_hostname_for_hashing",

	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.match_subject_alt_names": "write match_typed_subject_alt_names, each with its san_type",
	"envoy.extensions.wasm.v3.PluginConfig.fail_open":                                                "write failure_policy: FAIL_OPEN",
	"envoy.type.matcher.v3.RegexMatcher.google_re2":                                                  "remove it: RE2 is the only engine",
}

const (
	protocolOptions   = `write typed_extension_protocol_options, with an HttpProtocolOptions under "envoy.extensions.upstreams.http.v3.HttpProtocolOptions", and there `
	dnsCluster        = "write cluster_type, with a DnsCluster"
	perFilterCORS     = "write a typed_per_filter_config for envoy.filters.http.cors, with a CorsPolicy"
	responseDirection = "write response_direction_config."
)
