package walk_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
)

// inert are the fields that the walk does not read: the answer does not depend on them, or package envoy reads them for it.
var inert = []struct {
	message proto.Message
	fields  string
}{
	{&listenerv3.Listener{}, `access_log bind_to_port bypass_overload_manager connection_balance_config continue_on_listener_filters_timeout deprecated_v1 drain_type
		enable_mptcp enable_reuse_port fcds_config freebind ignore_global_conn_limit listener_filters_timeout internal_listener listener_filters max_connections_to_accept_per_socket_event
		per_connection_buffer_high_watermark_timeout per_connection_buffer_limit_bytes reuse_port socket_options stat_prefix stats_matcher tcp_backlog_size
		tcp_fast_open_queue_length tcp_keepalive traffic_direction transparent`},
	{&listenerv3.FilterChain{}, `transport_socket_connect_timeout use_proxy_proto`},
	{&hcmv3.HttpConnectionManager{}, `access_log access_log_flush_interval access_log_options add_proxy_protocol_connection_state
		always_set_request_id_in_response append_local_overload delayed_close_timeout drain_timeout drain_timeout_jitter
		flush_access_log_on_new_request forward_client_cert_matcher http1_safe_max_connection_duration
		http3_protocol_options path_normalization_options proxy_100_continue proxy_status_config record_route_resolution_stats
		represent_ipv4_remote_address_as_ipv4_mapped_ipv6 request_headers_timeout request_id_extension request_timeout route_config server_header_transformation server_name
		set_current_client_cert_details stat_prefix stream_error_on_invalid_http_message stream_flush_timeout stream_idle_timeout tracing typed_header_validation_config`},
	{&hcmv3.LocalReplyConfig{}, ``},
	{&hcmv3.ResponseMapper{}, ``},
	{&routev3.RouteConfiguration{}, `cluster_specifier_plugins max_direct_response_body_size_bytes validate_clusters virtual_hosts`},
	{&routev3.VirtualHost{}, `include_is_timeout_retry_header
		per_request_buffer_limit_bytes request_body_buffer_limit retry_policy_typed_config`},
	{&routev3.Route{}, `decorator filter_action per_request_buffer_limit_bytes request_body_buffer_limit stat_prefix tracing`},
	{&routev3.RouteAction{}, `early_data_policy flush_timeout grpc_timeout_offset hash_policy idle_timeout include_vh_rate_limits internal_redirect_action
		internal_redirect_policy max_internal_redirects max_stream_duration retry_policy_typed_config timeout`},
	{&routev3.RedirectAction{}, ``},
	{&routev3.DirectResponseAction{}, ``},
	{&routev3.WeightedCluster{}, `total_weight use_hash_policy`},
	{&routev3.WeightedCluster_ClusterWeight{}, ``},
}

// TestEveryFieldIsRead: the walk reads each field of what a request goes through, or inert has it. A new field of the API belongs to one of them.
func TestEveryFieldIsRead(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"*.go", "../../dataplane/envoy/match/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	read := map[string]bool{}
	for _, found := range regexp.MustCompile(`\.Get([A-Z]\w*)\(|[A-Za-z]+v3\.\w+_([A-Z]\w*)\b|\.Get([A-Z]\w*)\)`).FindAllStringSubmatch(code.String(), -1) {
		read[found[1]+found[2]+found[3]] = true
	}
	for _, known := range inert {
		fields, inert := known.message.ProtoReflect().Descriptor().Fields(), strings.Fields(known.fields)
		for i := range fields.Len() {
			name := string(fields.Get(i).Name())
			if isRead := read[camel(name)]; isRead == slices.Contains(inert, name) {
				t.Errorf("%s.%s is read: %v, and listed: %v", known.message.ProtoReflect().Descriptor().Name(), name, isRead, isRead)
			}
		}
	}
}

// camel returns the name of a field in Go.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
