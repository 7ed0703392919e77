package envoy

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// perRoute maps the type that an HTTP filter accepts in a typed_per_filter_config to the type that it accepts in the filter chain, for
// filters where these differ. Envoy finds the filter by either type, but rejects one in place of the other: "Unable to unpack as …". Tested
// on Envoy 1.40, filter by filter.
var perRoute = map[protoreflect.FullName]protoreflect.FullName{
	"envoy.extensions.common.matching.v3.ExtensionWithMatcherPerRoute":                "envoy.extensions.common.matching.v3.ExtensionWithMatcher",
	"envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManagerPerRoute":  "envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManager",
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute":                "envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth",
	"envoy.extensions.filters.http.aws_lambda.v3.PerRouteConfig":                      "envoy.extensions.filters.http.aws_lambda.v3.Config",
	"envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigningPerRoute":  "envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning",
	"envoy.extensions.filters.http.basic_auth.v3.BasicAuthPerRoute":                   "envoy.extensions.filters.http.basic_auth.v3.BasicAuth",
	"envoy.extensions.filters.http.buffer.v3.BufferPerRoute":                          "envoy.extensions.filters.http.buffer.v3.Buffer",
	"envoy.extensions.filters.http.composite.v3.CompositePerRoute":                    "envoy.extensions.filters.http.composite.v3.Composite",
	"envoy.extensions.filters.http.compressor.v3.CompressorPerRoute":                  "envoy.extensions.filters.http.compressor.v3.Compressor",
	"envoy.extensions.filters.http.cors.v3.CorsPolicy":                                "envoy.extensions.filters.http.cors.v3.Cors",
	"envoy.extensions.filters.http.dynamic_forward_proxy.v3.PerRouteConfig":           "envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig",
	"envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute":    "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter",
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute":                     "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
	"envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute":                       "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
	"envoy.extensions.filters.http.filter_chain.v3.FilterChainConfigPerRoute":         "envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig",
	"envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfigPerRoute": "envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfig",
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute":         "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
	"envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig":                       "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
	"envoy.extensions.filters.http.lua.v3.LuaPerRoute":                                "envoy.extensions.filters.http.lua.v3.Lua",
	"envoy.extensions.filters.http.mcp.v3.McpOverride":                                "envoy.extensions.filters.http.mcp.v3.Mcp",
	"envoy.extensions.filters.http.mcp_json_rest_bridge.v3.McpJsonRestBridgePerRoute": "envoy.extensions.filters.http.mcp_json_rest_bridge.v3.McpJsonRestBridge",
	"envoy.extensions.filters.http.oauth2.v3.OAuth2PerRoute":                          "envoy.extensions.filters.http.oauth2.v3.OAuth2",
	"envoy.extensions.filters.http.on_demand.v3.PerRouteConfig":                       "envoy.extensions.filters.http.on_demand.v3.OnDemand",
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaOverride":        "envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig",
	"envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute":                    "envoy.extensions.filters.http.ratelimit.v3.RateLimit",
	"envoy.extensions.filters.http.rbac.v3.RBACPerRoute":                              "envoy.extensions.filters.http.rbac.v3.RBAC",
	"envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute":       "envoy.extensions.filters.http.stateful_session.v3.StatefulSession",
}

// chainOnly are filters that do not accept a typed_per_filter_config.
var chainOnly = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.http.a2a.v3.A2a":                                               true,
	"envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency":              true,
	"envoy.extensions.filters.http.admission_control.v3.AdmissionControl":                    true,
	"envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig":                true,
	"envoy.extensions.filters.http.aws_eventstream_parser.v3.AwsEventstreamParser":           true,
	"envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit":                         true,
	"envoy.extensions.filters.http.cache.v3.CacheConfig":                                     true,
	"envoy.extensions.filters.http.cache_v2.v3.CacheV2Config":                                true,
	"envoy.extensions.filters.http.cdn_loop.v3.CdnLoopConfig":                                true,
	"envoy.extensions.filters.http.connect_grpc_bridge.v3.FilterConfig":                      true,
	"envoy.extensions.filters.http.credential_injector.v3.CredentialInjector":                true,
	"envoy.extensions.filters.http.decompressor.v3.Decompressor":                             true,
	"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig":                        true,
	"envoy.extensions.filters.http.geoip.v3.Geoip":                                           true,
	"envoy.extensions.filters.http.grpc_field_extraction.v3.GrpcFieldExtractionConfig":       true,
	"envoy.extensions.filters.http.grpc_http1_bridge.v3.Config":                              true,
	"envoy.extensions.filters.http.grpc_stats.v3.FilterConfig":                               true,
	"envoy.extensions.filters.http.grpc_web.v3.GrpcWeb":                                      true,
	"envoy.extensions.filters.http.health_check.v3.HealthCheck":                              true,
	"envoy.extensions.filters.http.ip_tagging.v3.IPTagging":                                  true,
	"envoy.extensions.filters.http.mcp_router.v3.McpRouter":                                  true,
	"envoy.extensions.filters.http.original_src.v3.OriginalSrc":                              true,
	"envoy.extensions.filters.http.proto_api_scrubber.v3.ProtoApiScrubberConfig":             true,
	"envoy.extensions.filters.http.proto_message_extraction.v3.ProtoMessageExtractionConfig": true,
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig":           true,
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaOverride":               true,
	"envoy.extensions.filters.http.router.v3.Router":                                         true,
	"envoy.extensions.filters.http.sse_to_metadata.v3.SseToMetadata":                         true,
	"envoy.extensions.filters.http.tap.v3.Tap":                                               true,
	"envoy.extensions.filters.http.thrift_to_metadata.v3.ThriftToMetadata":                   true,
	"envoy.extensions.filters.http.wasm.v3.Wasm":                                             true,
}

// Swapped reports whether the type of an HTTP filter's configuration belongs in the other place, the filter chain or a
// typed_per_filter_config, and returns the type that belongs here instead. Envoy does not unpack an empty configuration, so it accepts
// either type if empty.
func (p Point) Swapped(name protoreflect.FullName) (instead protoreflect.FullName, swapped bool) {
	if !p.IsPerRoute() {
		chain, ok := perRoute[name]
		return chain, ok
	}
	for route, chain := range perRoute {
		if chain == name {
			return route, true
		}
	}
	return "", false
}

// ChainOnly reports whether a type configures a filter that does not accept a typed_per_filter_config.
func ChainOnly(name protoreflect.FullName) bool { return chainOnly[name] }

// IsPerRoute reports whether the point is a typed_per_filter_config.
func (p Point) IsPerRoute() bool {
	return strings.HasSuffix(string(p.Field), ".typed_per_filter_config")
}

// ReadsPerRoute reports whether a filter can read a configuration for a route. Envoy creates the configuration by its type and files it under the
// name of the filter, which ignores one of another type (Utility::resolveMostSpecificPerFilterConfig in source/common/http/utility.h). A composite
// filter passes it to the filters inside.
func (f HTTPFilter) ReadsPerRoute(config proto.Message) bool {
	kind := filterKind(config.ProtoReflect().Descriptor().FullName())
	return kind == f.Kind || kind == "" || f.Kind == "" || f.Kind == "composite" || f.Kind == "filter_chain"
}
