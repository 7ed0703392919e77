package schema

import "google.golang.org/protobuf/reflect/protoreflect"

// replacedField is a field of an older API. Without a message, it is one of every message that has a field of that name after
// "typed_".
type replacedField struct {
	in   protoreflect.FullName
	name string
}

// replaced maps fields that old configurations and tutorials still use to what replaced them.
var replaced = map[replacedField]string{
	{"", "config"}:            `"config" was removed with the v2 API: write typed_config, with an "@type"`,
	{"", "per_filter_config"}: `"per_filter_config" was removed with the v2 API: write typed_per_filter_config, with an "@type"`,

	{"envoy.config.cluster.v3.Cluster", "hosts"}:                                "hosts was removed with the v2 API: write load_assignment",
	{"envoy.config.cluster.v3.Cluster", "tls_context"}:                          "tls_context was removed with the v2 API: write a transport_socket with an UpstreamTlsContext",
	{"envoy.config.cluster.v3.Cluster", "extension_protocol_options"}:           "write typed_extension_protocol_options",
	{"envoy.config.listener.v3.FilterChain", "tls_context"}:                     "tls_context was removed with the v2 API: write a transport_socket with a DownstreamTlsContext",
	{"envoy.config.route.v3.CorsPolicy", "allow_origin"}:                        "allow_origin was removed with the v2 API: write allow_origin_string_match: [{exact: …}]",
	{"envoy.config.route.v3.RouteMatch", "regex"}:                               "regex was removed with the v2 API: write safe_regex: {regex: …}",
	{"envoy.config.route.v3.RouteAction", "auto_host_rewrite_header"}:           "write host_rewrite_header",
	{"envoy.config.route.v3.RouteAction", "request_mirror_policy"}:              "write request_mirror_policies, a list",
	{"envoy.config.route.v3.VirtualCluster", "pattern"}:                         "write headers, with a matcher for :path",
	{"envoy.config.route.v3.VirtualCluster", "method"}:                          "write headers, with a matcher for :method",
	{"envoy.config.route.v3.HeaderMatcher", "regex_match"}:                      "write string_match: {safe_regex: {regex: …}}",
	{"envoy.config.route.v3.QueryParameterMatcher", "value"}:                    "write string_match: {exact: …}",
	{"envoy.type.matcher.v3.StringMatcher", "regex"}:                            "write safe_regex: {regex: …}",
	{"envoy.extensions.filters.http.fault.v3.FaultAbort", "abort_percent"}:      "write percentage: {numerator: …}",
	{"envoy.extensions.filters.common.fault.v3.FaultDelay", "percent"}:          "write percentage: {numerator: …}",
	{"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", "deprecated_v1"}: "write a filter chain for each route, with a filter_chain_match",
	{"envoy.config.bootstrap.v3.Bootstrap", "runtime"}:                          "write layered_runtime",
}
