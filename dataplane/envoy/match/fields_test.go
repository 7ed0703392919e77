package match_test

import (
	"slices"
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
)

// TestNoOtherConditions: a new field in the API may be a condition that the package has to know.
func TestNoOtherConditions(t *testing.T) {
	for _, test := range []struct {
		message proto.Message
		known   []string
	}{
		{&routev3.RouteMatch{}, []string{
			"case_sensitive", "connect_matcher", "cookies", "dynamic_metadata", "filter_state", "grpc", "headers", "path", "path_match_policy",
			"path_separated_prefix", "prefix", "query_parameters", "runtime_fraction", "safe_regex", "tls_context",
		}},
		{&routev3.HeaderMatcher{}, []string{
			"contains_match", "exact_match", "invert_match", "name", "prefix_match", "present_match", "range_match", "safe_regex_match", "string_match",
			"suffix_match", "treat_missing_header_as_empty",
		}},
		{&routev3.QueryParameterMatcher{}, []string{"name", "present_match", "string_match"}},
		{&routev3.CookieMatcher{}, []string{"invert_match", "name", "string_match"}},
		{&routev3.RouteMatch_TlsContextMatchOptions{}, []string{"presented", "validated"}},
		{&listenerv3.FilterChainMatch{}, []string{
			"address_suffix", "application_protocols", "destination_port", "direct_source_prefix_ranges", "prefix_ranges", "server_names",
			"source_ports", "source_prefix_ranges", "source_type", "suffix_len", "transport_protocol",
		}},
	} {
		descriptor := test.message.ProtoReflect().Descriptor()
		var fields []string
		for i := range descriptor.Fields().Len() {
			fields = append(fields, string(descriptor.Fields().Get(i).Name()))
		}
		slices.Sort(fields)
		if !slices.Equal(fields, test.known) {
			t.Errorf("%s has %q, not %q", descriptor.Name(), fields, test.known)
		}
	}
}
