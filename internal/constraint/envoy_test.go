package constraint_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"google.golang.org/protobuf/types/known/structpb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/internal/constraint"
)

// TestEnvoy has a case for every kind of rule that occurs in Envoy's protos.
func TestEnvoy(t *testing.T) {
	for _, c := range []struct{ rule, message, json, want string }{
		{
			"duration.gt", "config.cluster.v3.Cluster", `{"name": "a", "connect_timeout": "0s"}`,
			"connect_timeout must be greater than 0s | value must be greater than 0s\n",
		},
		{
			"duration.gt, negative", "config.cluster.v3.Cluster", `{"name": "a", "connect_timeout": "-0.5s"}`,
			"connect_timeout is -0.5s, must be greater than 0s | value must be greater than 0s\n",
		},
		{
			"duration.gte, lt", "config.bootstrap.v3.Bootstrap", `{"stats_flush_interval": "0.0001s"}`,
			"stats_flush_interval is 0.0001s, must be at least 0.001s and less than 300s | value must be inside range [1ms, 5m0s)\n",
		},
		{
			"duration.required", "config.core.v3.HttpUri", `{"uri": "a", "cluster": "b"}`,
			"timeout is required | value is required\n",
		},
		{"string.min_len", "config.cluster.v3.Cluster", `{}`, "name must not be empty | value length must be at least 1 characters\n"},
		{
			"string.max_len", "extensions.filters.network.reverse_tunnel.v3.Validation", `{"dynamic_metadata_namespace": "` + strings.Repeat("x", 256) + `"}`,
			"dynamic_metadata_namespace has 256 characters, must have at most 255 characters | value length must be at most 255 characters\n",
		},
		{
			"string.in", "config.core.v3.SchemeHeaderTransformation", `{"scheme_to_overwrite": "ftp"}`,
			`scheme_to_overwrite must be one of "http", "https" | value must be in list [http https]` + "\n",
		},
		{"string.ignore_empty", "extensions.filters.http.oauth2.v3.OAuth2Credentials.CookieNames", `{"bearer_token": ""}`, ""},
		{
			"string.well_known_regex", "extensions.http.original_ip_detection.custom_header.v3.CustomHeaderConfig", `{"header_name": "a b"}`,
			"header_name must be a valid HTTP header name | value does not match regex pattern \"^:?[0-9a-zA-Z!#$%&'*+-.^_|~`]+$\"\n",
		},
		{
			"string.well_known_regex, not strict", "config.core.v3.HeaderValue", `{"key": "a\nb"}`,
			`key must not contain a NUL, LF or CR character | value does not match regex pattern "^[^\x00\n\r]*$"` + "\n",
		},
		{
			"string.pattern", "extensions.geoip_providers.maxmind.v3.MaxMindConfig", `{"city_db_path": "city.db", "common_provider_config": {"geo_headers_to_add": {}}}`,
			`city_db_path must match the regular expression "^$|^.*\\.mmdb$" | value does not match regex pattern "^$|^.*\\.mmdb$"` + "\n",
		},
		{
			"uint32.lte", "config.core.v3.SocketAddress", `{"address": "::", "port_value": 70000}`,
			"port_value is 70000, must be at most 65535 | value must be less than or equal to 65535\n",
		},
		{
			"uint32 of a wrapper", "config.route.v3.RateLimit.Action.MaskedRemoteAddress", `{"v4_prefix_mask_len": 33}`,
			"v4_prefix_mask_len is 33, must be at most 32 | value must be less than or equal to 32\n",
		},
		{"an absent wrapper", "config.route.v3.RateLimit.Action.MaskedRemoteAddress", `{}`, ""},
		{
			"double of a wrapper", "config.cluster.v3.Cluster.PreconnectPolicy", `{"predictive_preconnect_ratio": 3.5}`,
			"predictive_preconnect_ratio is 3.5, must be at least 1 and at most 3 | value must be inside range [1, 3]\n",
		},
		{
			"bool.const", "extensions.filters.http.compressor.v3.CompressorPerRoute", `{"disabled": false}`,
			"disabled must be true | value must equal true\n",
		},
		{
			"bytes.min_len", "config.common.matcher.v3.HttpGenericBodyMatch.GenericTextMatch", `{"binary_match": ""}`,
			"binary_match is empty, must have at least 1 byte | value length must be at least 1 bytes\n",
		},
		{
			"enum.defined_only", "config.cluster.v3.Cluster", `{"name": "a", "lb_policy": 99}`,
			"lb_policy is 99, must be a value that LbPolicy defines | value must be one of the defined enum values\n",
		},
		{
			"enum.not_in", "type.v3.HttpStatus", `{}`,
			"code must not be Empty | value must not be in list [Empty]\n",
		},
		{
			"repeated.min_items", "config.route.v3.VirtualHost", `{"name": "a"}`,
			"domains must have at least 1 item | value must contain at least 1 item(s)\n",
		},
		{
			"repeated.items", "config.route.v3.VirtualHost", `{"name": "a", "domains": ["ok", "a\nb"]}`,
			`domains[1] must not contain a NUL, LF or CR character | value does not match regex pattern "^[^\x00\n\r]*$"` + "\n",
		},
		{
			"repeated.unique", "config.metrics.v3.HistogramBucketSettings", `{"match": {"exact": "a"}, "buckets": [1, 2, 1]}`,
			"buckets[2] must not repeat item 0 | repeated value must contain unique items\n",
		},
		{
			"repeated.max_items", "config.route.v3.InternalRedirectPolicy", `{"redirect_response_codes": [301, 302, 303, 307, 308, 399]}`,
			"redirect_response_codes has 6 items, must have at most 5 items | value must contain no more than 5 item(s)\n",
		},
		{
			"map.min_pairs", "config.common.matcher.v3.Matcher.MatcherTree.MatchMap", `{}`,
			"map must have at least 1 pair | value must contain at least 1 pair(s)\n",
		},
		{
			"map.keys", "config.core.v3.Metadata", `{"filter_metadata": {"": {}, "a": {}}}`,
			"filter_metadata[] must not be empty | value length must be at least 1 characters\n",
		},
		{
			"map.values", "xds.data.orca.v3.OrcaLoadReport", `{"utilization": {"b": 2, "a": -1, "c": 1}}`,
			"utilization[a] is -1, must be at least 0 and at most 1 | value must be inside range [0, 1]\n" +
				"utilization[b] is 2, must be at least 0 and at most 1 | value must be inside range [0, 1]\n",
		},
		{"any.required", "xds.core.v3.TypedExtensionConfig", `{"name": "a"}`, "typed_config is required | value is required\n"},
		{
			"any.required on another message", "config.core.v3.ExtensionConfigSource", `{"type_urls": ["a"]}`,
			"config_source is required | value is required\n",
		},
		{"message.required", "config.listener.v3.Filter", `{"name": "a"}`, ""},
		{
			"message.required, nested", "config.endpoint.v3.LocalityLbEndpoints", `{"lb_endpoints": [{"endpoint": {"address": {}}}]}`,
			"lb_endpoints[0].endpoint.address.address is required: one of socket_address, pipe, envoy_internal_address must be set | is required\n",
		},
		{
			"message.required of a wrapper", "extensions.filters.http.health_check.v3.HealthCheck", `{}`,
			"pass_through_mode is required | value is required\n",
		},
		{"message.skip", "config.core.v3.KeyValueAppend", `{"entry": {"key": ""}}`, ""},
		{
			"a required oneof", "config.core.v3.DataSource", `{}`,
			"specifier is required: one of filename, inline_bytes, inline_string, environment_variable must be set | is required\n",
		},
		{
			"an empty member of a oneof", "config.core.v3.DataSource", `{"filename": ""}`,
			"filename must not be empty | value length must be at least 1 characters\n",
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := messageOf(t, c.message)
			if err := protojson.Unmarshal([]byte(c.json), m.Interface()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(collect(m))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func messageOf(t *testing.T, name string) protoreflect.Message {
	t.Helper()
	if !strings.HasPrefix(name, "xds.") {
		name = "envoy." + name
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		t.Fatal(err)
	}
	return mt.New()
}

func TestSkip(t *testing.T) {
	for _, c := range []struct {
		message, field string
		want           bool
	}{
		{"config.core.v3.KeyValueAppend", "entry", true},                // message.skip
		{"config.core.v3.ExtensionConfigSource", "config_source", true}, // any.required, though it is not an Any
		{"xds.core.v3.TypedExtensionConfig", "typed_config", false},     // an Any
		{"config.listener.v3.Listener", "address", false},
		{"config.listener.v3.Listener", "filter_chains", false},
		{"config.core.v3.Metadata", "filter_metadata", false},
		{"config.listener.v3.Listener", "name", false}, // no message at all
	} {
		fd := messageOf(t, c.message).Descriptor().Fields().ByName(protoreflect.Name(c.field))
		for range 2 { // the second answer is the cached one
			if got := constraint.Skip(fd); got != c.want {
				t.Errorf("Skip(%s) = %t", fd.FullName(), got)
			}
		}
	}
}

// TestNothingToCheck covers a type without rules, and that its nil checker is harmless.
func TestNothingToCheck(t *testing.T) {
	m := (&structpb.Struct{}).ProtoReflect()
	c := constraint.For(m.Descriptor())
	if c != nil {
		t.Error("a checker for a type without rules")
	}
	c.Check(m, func(v constraint.Violation) { t.Error(v) })
}

// TestOtherDescriptor hands a checker a message of another type: it must not panic.
func TestOtherDescriptor(t *testing.T) {
	cluster, address := messageOf(t, "config.cluster.v3.Cluster"), messageOf(t, "config.core.v3.SocketAddress")
	var got []string
	constraint.For(cluster.Descriptor()).Check(address, func(v constraint.Violation) { got = append(got, place(v)) })
	if diff := cmp.Diff([]string{"address", "port_specifier"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestNil checks read-only messages, such as a nil pointer, which read as empty ones.
func TestNil(t *testing.T) {
	for _, mt := range messageTypes() {
		if diff := cmp.Diff(lines(collect(mt.New())), lines(collect(mt.Zero()))); diff != "" {
			t.Errorf("%s: %s", mt.Descriptor().FullName(), diff)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	want := lines(collect(messageOf(t, "config.cluster.v3.Cluster")))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, mt := range messageTypes() {
				collect(mt.New())
			}
			if got := lines(collect(messageOf(t, "config.cluster.v3.Cluster"))); got != want {
				t.Error(got)
			}
		})
	}
	group.Wait()
}

func TestAllocatesNothing(t *testing.T) {
	cluster := fromJSON(t, &clusterv3.Cluster{}, clusterJSON)
	cluster.HealthChecks = nil // the one list whose items must be counted: protoreflect allocates to read it
	c := cluster.ProtoReflect()
	report := func(v constraint.Violation) { t.Error(v.Message) }
	n := testing.AllocsPerRun(100, func() { constraint.For(c.Descriptor()).Check(c, report) })
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
