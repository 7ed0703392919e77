package http

import (
	"fmt"
	"math"
	"regexp"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	zstdv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/compression/zstd/compressor/v3"
	unzstdv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/compression/zstd/decompressor/v3"
	admissionv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/admission_control/v3"
	apikeyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/api_key_auth/v3"
	cdnloopv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cdn_loop/v3"
	compositev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/composite/v3"
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	gcpauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/gcp_authn/v3"
	healthcheckv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/health_check/v3"
	tagsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ip_tagging/v3"
	transformv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/transform/v3"
	hashingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/consistent_hashing/v3"
	wasmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/wasm/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-value",
	Severity: lint.Error,
	Summary:  "an HTTP filter has a value that its code rejects",
	Links: []string{
		"AdmissionControlFilterFactory::createFilterFactoryFromProtoTyped (source/extensions/filters/http/admission_control/config.cc)",
		"KeySources::Source::Source (source/extensions/filters/http/api_key_auth/api_key_auth.cc)",
		"ClientConfig::ClientConfig (source/extensions/filters/common/ext_authz/ext_authz_http_impl.cc)",
		"parseCdnId (source/extensions/filters/http/cdn_loop/parser.cc)",
		"HealthCheckFilterConfig::createFilterFactoryFromProtoTyped (source/extensions/filters/http/health_check/config.cc)",
		"GcpAuthnFilterFactory::createFilterFactoryFromProtoTyped (source/extensions/filters/http/gcp_authn/filter_config.cc)",
		"source/extensions/filters/http/mcp_json_rest_bridge/filter_config.cc",
		"IpTaggingFilterConfig (source/extensions/filters/http/ip_tagging/ip_tagging_filter.cc)",
		"ConsistentHashingConfig::createInputMatcherFactoryCb (source/extensions/matching/input_matchers/consistent_hashing/config.cc)",
		"RemoteAsyncDataProvider::RemoteAsyncDataProvider (source/extensions/common/wasm/remote_async_datasource.cc)",
		"DictionaryManager::DictionaryManager (source/extensions/compression/zstd/common/dictionary_manager.h)",
		"ExecuteFilterActionFactory::createAction (source/extensions/filters/http/composite/action.cc)",
	},
	Run: read.Each(read.Of(admissionControl), read.Of(apiKeys), read.Of(apiKeysOfRoute), read.Of(healthCheck),
		read.Of(authorizationPaths), read.Of(cdnLoop), read.Named("envoy.extensions.filters.http.mcp_json_rest_bridge.v3.McpJsonRestBridge", mcpTools),
		read.Of(addressTags), read.Of(transformation), read.Of(delegation), read.Of(googleTokens), read.Of(hashThreshold),
		read.Of(fetched), read.Of(zstdCompressor), read.Of(zstdDecompressor)),
})

func admissionControl(p *lint.Pass, at lint.At, m *admissionv3.AdmissionControl) {
	if m.GetSrThreshold() != nil && m.GetSrThreshold().GetDefaultValue().GetValue() < 1 {
		p.Reject(at.Field("sr_threshold", "default_value"), lint.Rejection{
			Message:  "the success rate threshold is less than 1 %",
			Help:     "write default_value: {value: …}, in percent",
			Upstream: "Success rate threshold cannot be less than 1.0%.",
		})
	}
	criteria := at.Field("success_criteria")
	for i, r := range m.GetSuccessCriteria().GetHttpCriteria().GetHttpSuccessStatus() {
		if !isStatusRange(r) {
			p.Reject(criteria.Field("http_criteria").Item("http_success_status", i), lint.Rejection{
				Message:  fmt.Sprintf("%d to %d is not a range of HTTP statuses", r.GetStart(), r.GetEnd()),
				Help:     "write a start from 100 and an end up to 600; the end does not belong to the range",
				Upstream: fmt.Sprintf("invalid HTTP range: [%d, %d)", r.GetStart(), r.GetEnd()),
			})
		}
	}
	for i, code := range m.GetSuccessCriteria().GetGrpcCriteria().GetGrpcSuccessStatus() {
		if code > 16 {
			p.Reject(criteria.Field("grpc_criteria").Item("grpc_success_status", i), lint.Rejection{
				Message:  fmt.Sprintf("%d is not a gRPC status", code),
				Help:     "write a number from 0 to 16",
				Upstream: fmt.Sprintf("invalid gRPC code %d", code),
			})
		}
	}
}

// isStatusRange follows SuccessCriteriaEvaluator::validHttpRange.
func isStatusRange(r *typev3.Int32Range) bool {
	return r.GetStart() <= r.GetEnd() && r.GetStart() >= 100 && r.GetStart() < 600 && r.GetEnd() <= 600
}

func apiKeys(p *lint.Pass, at lint.At, m *apikeyv3.ApiKeyAuth) {
	checkKeys(p, at, m.GetCredentials(), m.GetKeySources())
}

func apiKeysOfRoute(p *lint.Pass, at lint.At, m *apikeyv3.ApiKeyAuthPerRoute) {
	checkKeys(p, at, m.GetCredentials(), m.GetKeySources())
}

func checkKeys(p *lint.Pass, at lint.At, credentials []*apikeyv3.Credential, sources []*apikeyv3.KeySource) {
	for i, s := range sources {
		if s.GetHeader() == "" && s.GetQuery() == "" && s.GetCookie() == "" {
			p.Reject(at.Item("key_sources", i), lint.Rejection{
				Message:  "the source does not say where the key is",
				Help:     "add header, query or cookie",
				Upstream: "One of 'header'/'query'/'cookie' must be set.",
			})
		}
	}
	seen := map[string]int{}
	for i, c := range credentials {
		before, twice := seen[c.GetKey()]
		if !twice {
			seen[c.GetKey()] = i
			continue
		}
		p.Reject(at.Item("credentials", i).Field("key"), lint.Rejection{
			Message:  "two clients have the same key",
			Help:     "give each client a key of its own",
			Upstream: "Duplicated credential key",
			Related:  []lint.Related{lint.RelatedTo(at.Item("credentials", before).Field("key"), "the first one")},
		})
	}
}

func healthCheck(p *lint.Pass, at lint.At, m *healthcheckv3.HealthCheck) {
	if m.GetPassThroughMode() == nil || m.GetPassThroughMode().GetValue() {
		return
	}
	if m.GetCacheTime().AsDuration().Milliseconds() != 0 {
		p.Reject(at.Field("cache_time"), lint.Rejection{
			Message:  "cache_time is only for pass_through_mode: true",
			Help:     "remove it: without pass_through_mode, Envoy answers itself",
			Upstream: "cache_time_ms must not be set when path_through_mode is disabled",
		})
	}
	for name, percent := range m.GetClusterMinHealthyPercentages() {
		if math.IsNaN(percent.GetValue()) {
			p.Reject(at.Entry("cluster_min_healthy_percentages", name), lint.Rejection{
				Message:  "the percentage is not a number",
				Help:     "write a number from 0 to 100",
				Upstream: "cluster_min_healthy_percentages contains a NaN value for cluster: " + name,
			})
		}
	}
}

func authorizationPaths(p *lint.Pass, at lint.At, m *extauthzv3.HttpService) {
	for _, path := range []struct{ field, text string }{{"path_prefix", m.GetPathPrefix()}, {"path_override", m.GetPathOverride()}} {
		if path.text != "" && path.text[0] != '/' {
			p.Reject(at.Field(path.field), lint.Rejection{
				Message:  fmt.Sprintf("%q is not a path", path.text),
				Help:     "begin it with a slash",
				Upstream: path.field + ` should start with "/".`,
			})
		}
	}
}

// cdnID matches an identifier of a CDN: a token or what looks like an IPv6 address, and a port.
var cdnID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(\\[[0-9A-Fa-f:.]*\\]|[A-Za-z0-9!#$%&'*+.^_`|~-]+)(:[0-9]*)?$")
})

func cdnLoop(p *lint.Pass, at lint.At, m *cdnloopv3.CdnLoopConfig) {
	if id := m.GetCdnId(); id != "" && !cdnID().MatchString(id) {
		p.Reject(at.Field("cdn_id"), lint.Rejection{
			Message:  fmt.Sprintf("%q is not an identifier of a CDN", id),
			Help:     "write a host name, or a name without spaces; a number can follow a colon",
			Upstream: fmt.Sprintf("Provided cdn_id %q is not a valid CDN identifier", id),
		})
	}
}

func mcpTools(p *lint.Pass, at lint.At, m proto.Message) {
	if p.Target.Before("1.40") {
		return
	}
	config, seen := at.Field("tool_config"), map[string]int{}
	for i, tool := range dynamic.Items(dynamic.Sub(m, "tool_config"), "tools") {
		value, ok := dynamic.Value(tool.Message().Interface(), "name")
		if !ok {
			continue // the constraints reject it
		}
		name := value.String()
		before, twice := seen[name]
		if !twice {
			seen[name] = i
			continue
		}
		p.Reject(config.Item("tools", i).Field("name"), lint.Rejection{
			Message:  fmt.Sprintf("two tools have the name %q", name),
			Help:     "give each tool a name of its own",
			Upstream: "Duplicate tool name: " + name,
			Related:  []lint.Related{lint.RelatedTo(config.Item("tools", before).Field("name"), "the first one")},
		})
	}
}

func addressTags(p *lint.Pass, at lint.At, m *tagsv3.IPTagging) {
	r := lint.Rejection{}
	switch {
	case p.Target.Before("1.39"):
		return // a constraint requires ip_tags
	case m.GetIpTagsDatasource() == nil && len(m.GetIpTags()) == 0:
		r.Message, r.Help = "the filter does not have tags", "add ip_tags or ip_tags_datasource"
		r.Upstream = "HTTP IP Tagging Filter requires either ip_tags or ip_tags_datasource to be specified."
	case m.GetIpTagsDatasource() != nil && len(m.GetIpTags()) > 0:
		at = at.Field("ip_tags_datasource").Key()
		r.Message, r.Help = "ip_tags_datasource cannot be combined with ip_tags", "keep one of them"
		r.Upstream = "Only one of ip_tags or ip_tags_datasource can be configured."
	case m.GetIpTagsDatasource() != nil && m.GetIpTagsDatasource().GetFilename() == "":
		at = at.Field("ip_tags_datasource")
		r.Message, r.Help = "the tags are not in a file", "write filename"
		r.Upstream = "Cannot load tags from empty filename in datasource."
	default:
		return
	}
	p.Reject(at, r)
}

func transformation(p *lint.Pass, at lint.At, m *transformv3.TransformConfig) {
	if m.GetClearRouteCache() && m.GetClearClusterCache() {
		p.Reject(at.Field("clear_cluster_cache"), lint.Rejection{
			Message:  "clear_cluster_cache cannot be combined with clear_route_cache",
			Help:     "keep clear_route_cache, which also selects the cluster again",
			Upstream: "Only one of clear_cluster_cache and clear_route_cache can be set to true",
		})
	}
}

func googleTokens(p *lint.Pass, at lint.At, m *gcpauthnv3.GcpAuthnFilterConfig) {
	checkBackOff(p, at.Field("retry_policy"), m.GetRetryPolicy())
}

// fetched checks a source of code, such as that of a Wasm module. Envoy fetches that of a bootstrap extension only after validation.
func fetched(p *lint.Pass, at lint.At, m *corev3.AsyncDataSource) {
	if _, extension := graph.Around[*wasmv3.WasmService](at.Place); extension != nil {
		return
	}
	checkBackOff(p, at.Field("remote", "retry_policy"), m.GetRemote().GetRetryPolicy())
}

func zstdCompressor(p *lint.Pass, at lint.At, m *zstdv3.Zstd) {
	checkDictionary(p, at.Field("dictionary"), m.GetDictionary())
}

func zstdDecompressor(p *lint.Pass, at lint.At, m *unzstdv3.Zstd) {
	for i, dictionary := range m.GetDictionaries() {
		checkDictionary(p, at.Item("dictionaries", i), dictionary)
	}
}

func checkDictionary(p *lint.Pass, at lint.At, dictionary *corev3.DataSource) {
	if data, known := envoy.Data(at, dictionary); dictionary != nil && known && len(data) == 0 && dictionary.GetFilename() == "" {
		p.Reject(at, lint.Rejection{
			Message:  "the dictionary is empty",
			Help:     "write the dictionary as inline_bytes, or name its file",
			Upstream: "DataSource cannot be empty",
		})
	}
}

// hashThreshold checks a matcher that takes a share of what it sees.
func hashThreshold(p *lint.Pass, at lint.At, m *hashingv3.ConsistentHashing) {
	if m.GetThreshold() > m.GetModulo() && m.GetModulo() > 0 {
		p.Reject(at.Field("threshold"), lint.Rejection{
			Message:  fmt.Sprintf("the threshold %d is greater than the modulo %d", m.GetThreshold(), m.GetModulo()),
			Help:     "write a threshold up to modulo: the matcher takes hashes whose rest is at least the threshold",
			Upstream: fmt.Sprintf("threshold cannot be greater than modulo: %d > %d", m.GetThreshold(), m.GetModulo()),
		})
	}
}

// delegation checks the action of a composite filter, which says what to run.
func delegation(p *lint.Pass, at lint.At, m *compositev3.ExecuteFilterAction) {
	chains := !p.Target.Before("1.37")
	switch {
	case m.GetDynamicConfig() != nil && m.GetDynamicConfig().GetConfigDiscovery() == nil:
		p.Reject(at.Field("dynamic_config"), lint.Rejection{
			Message:  "the action does not say where its filter comes from",
			Help:     "add config_discovery",
			Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
		})
	case chains && m.GetFilterChain() != nil && len(m.GetFilterChain().GetTypedConfig()) == 0:
		p.Reject(at.Field("filter_chain"), lint.Rejection{
			Message:  "the filter chain of the action does not have a filter",
			Help:     "add typed_config",
			Upstream: "filter_chain must contain at least one filter.",
		})
	case m.GetTypedConfig() == nil && m.GetDynamicConfig() == nil && (!chains || m.GetFilterChain() == nil && m.GetFilterChainName() == ""):
		p.Reject(at, lint.Rejection{
			Message:  "the action does not say which filter to run",
			Help:     "add typed_config",
			Upstream: "Didn't find a registered implementation for '' with type URL: ''",
		})
	}
}
