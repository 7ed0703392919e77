package constraint_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// realistic gives messages as people write them, none of which breaks a rule.
func realistic(t testing.TB) []proto.Message {
	t.Helper()
	return []proto.Message{
		fromJSON(t, &clusterv3.Cluster{}, clusterJSON),
		fromJSON(t, &listenerv3.Listener{}, listenerJSON),
		fromJSON(t, &routev3.RouteConfiguration{}, routesJSON),
		fromJSON(t, &hcmv3.HttpConnectionManager{}, `{
			"stat_prefix": "ingress", "codec_type": "AUTO", "route_config": `+routesJSON+`,
			"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
			"common_http_protocol_options": {"idle_timeout": "3600s", "max_headers_count": 100},
			"http2_protocol_options": {"max_concurrent_streams": 100, "initial_stream_window_size": 65536},
			"upgrade_configs": [{"upgrade_type": "websocket"}], "server_name": "edge", "request_timeout": "15s",
			"set_current_client_cert_details": {"subject": true}, "xff_num_trusted_hops": 1}`),
		fromJSON(t, &tlsv3.DownstreamTlsContext{}, `{
			"common_tls_context": {
				"tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
				"tls_certificates": [{"certificate_chain": {"filename": "/c.pem"}, "private_key": {"inline_string": "secret"}}],
				"validation_context": {"trusted_ca": {"filename": "/ca.pem"}, "verify_certificate_hash":
					["0123456789012345678901234567890123456789012345678901234567890123"]},
				"alpn_protocols": ["h2", "http/1.1"]},
			"require_client_certificate": true, "session_timeout": "86400s"}`),
		fromJSON(t, &jwtv3.JwtAuthentication{}, `{
			"providers": {"p1": {"issuer": "https://a", "remote_jwks": {
				"http_uri": {"uri": "https://a/jwks", "cluster": "jwks", "timeout": "5s"}, "cache_duration": "300s"},
				"from_headers": [{"name": "authorization", "value_prefix": "Bearer "}], "forward_payload_header": "x-payload"}},
			"rules": [{"match": {"prefix": "/"}, "requires": {"provider_name": "p1"}}]}`),
	}
}

const clusterJSON = `{
	"name": "backend", "type": "STRICT_DNS", "connect_timeout": "0.25s", "lb_policy": "LEAST_REQUEST",
	"per_connection_buffer_limit_bytes": 32768, "dns_lookup_family": "V4_ONLY", "dns_refresh_rate": "5s", "respect_dns_ttl": true,
	"circuit_breakers": {"thresholds": [{"priority": "DEFAULT", "max_connections": 1024, "max_pending_requests": 1024,
		"max_requests": 2048, "max_retries": 3, "retry_budget": {"budget_percent": {"value": 20}, "min_retry_concurrency": 3}}]},
	"outlier_detection": {"consecutive_5xx": 5, "interval": "10s", "base_ejection_time": "30s", "max_ejection_percent": 50},
	"health_checks": [{"timeout": "1s", "interval": "5s", "unhealthy_threshold": 3, "healthy_threshold": 2,
		"http_health_check": {"path": "/healthz", "host": "backend", "expected_statuses": [{"start": "200", "end": "300"}]}}],
	"common_lb_config": {"healthy_panic_threshold": {"value": 50}, "locality_weighted_lb_config": {}},
	"transport_socket": {"name": "tls", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "sni": "backend"}},
	"typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
		"@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
		"explicit_http_config": {"http2_protocol_options": {"max_concurrent_streams": 100}}}},
	"upstream_connection_options": {"tcp_keepalive": {"keepalive_probes": 3, "keepalive_time": 60, "keepalive_interval": 10}},
	"metadata": {"filter_metadata": {"envoy.lb": {"version": "v1"}}},
	"load_assignment": {"cluster_name": "backend", "policy": {"overprovisioning_factor": 140}, "endpoints": [
		{"locality": {"region": "r", "zone": "a"}, "load_balancing_weight": 50, "lb_endpoints": [
			{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 8080}}}, "load_balancing_weight": 10},
			{"endpoint": {"address": {"socket_address": {"address": "10.0.0.2", "port_value": 8080}}}, "load_balancing_weight": 10},
			{"endpoint": {"address": {"socket_address": {"address": "10.0.0.3", "port_value": 8080}}}}]},
		{"locality": {"region": "r", "zone": "b"}, "priority": 1, "lb_endpoints": [
			{"endpoint": {"address": {"socket_address": {"address": "10.1.0.1", "port_value": 8080}}}}]}]}}`

const listenerJSON = `{
	"name": "ingress", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8443}},
	"per_connection_buffer_limit_bytes": 32768, "traffic_direction": "INBOUND", "listener_filters_timeout": "5s",
	"listener_filters": [{"name": "tls_inspector", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"}}],
	"filter_chains": [{"name": "main", "filter_chain_match": {"server_names": ["example.com"], "destination_port": 443,
			"prefix_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 8}], "source_ports": [1, 65535]},
		"transport_socket_connect_timeout": "10s",
		"filters": [{"name": "tcp", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", "stat_prefix": "tcp", "cluster": "backend"}}]}],
	"access_log": [{"name": "file", "filter": {"status_code_filter": {"comparison": {"op": "GE", "value": {"default_value": 500, "runtime_key": "k"}}}},
		"typed_config": {"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/stdout"}}],
	"socket_options": [{"level": "1", "name": "2", "int_value": "3", "state": "STATE_PREBIND"}],
	"connection_balance_config": {"exact_balance": {}}}`

const routesJSON = `{
	"name": "public", "internal_only_headers": ["x-internal"], "request_headers_to_remove": ["x-secret"],
	"request_headers_to_add": [{"header": {"key": "x-edge", "value": "1"}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}],
	"virtual_hosts": [{"name": "vh", "domains": ["example.com", "*.example.com"], "require_tls": "EXTERNAL_ONLY",
		"virtual_clusters": [{"name": "vc", "headers": [{"name": ":path", "string_match": {"prefix": "/v"}}]}],
		"rate_limits": [{"stage": 1, "actions": [{"request_headers": {"header_name": "x-user", "descriptor_key": "user"}}]}],
		"retry_policy": {"retry_on": "5xx", "num_retries": 2, "per_try_timeout": "1s",
			"retry_back_off": {"base_interval": "0.025s", "max_interval": "0.25s"},
			"retry_host_predicate": [{"name": "previous_hosts", "typed_config": {
				"@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"}}]},
		"routes": [
			{"match": {"prefix": "/api", "headers": [{"name": "x-canary", "string_match": {"exact": "1"}}],
					"query_parameters": [{"name": "q", "present_match": true}],
					"runtime_fraction": {"default_value": {"numerator": 10, "denominator": "HUNDRED"}, "runtime_key": "k"}},
				"route": {"weighted_clusters": {"clusters": [{"name": "a", "weight": 10}, {"name": "b", "weight": 90}]},
					"timeout": "15s", "prefix_rewrite": "/", "host_rewrite_literal": "a.internal",
					"hash_policy": [{"cookie": {"name": "c", "ttl": "0s"}}],
					"internal_redirect_policy": {"redirect_response_codes": [301, 302], "response_headers_to_copy": ["x-a", "x-b"]},
					"request_mirror_policies": [{"cluster": "shadow"}]}},
			{"match": {"safe_regex": {"regex": "/v[0-9]+/.*"}}, "redirect": {"https_redirect": true, "response_code": "FOUND"}},
			{"match": {"path": "/ping"}, "direct_response": {"status": 200, "body": {"inline_string": "pong"}}},
			{"match": {"prefix": "/"}, "route": {"cluster": "backend"}}]}]}`
