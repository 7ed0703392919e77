package http

import (
	tapv3 "github.com/envoyproxy/go-control-plane/envoy/config/tap/v3"
	commontapv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/tap/v3"
	bandwidthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/bandwidth_limit/v3"
	sharev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/bandwidth_share/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cache/v3"
	cachev2 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cache_v2/v3"
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-conflict",
	Severity: lint.Error,
	Summary:  "an HTTP filter has two settings for one purpose, or lacks the one that it needs",
	Links: []string{
		"FilterConfig::FilterConfig (source/extensions/filters/http/ext_authz/ext_authz.cc)",
		"FilterConfig::FilterConfig (source/extensions/filters/http/lua/lua_filter.cc)",
		"CacheFilterFactory::createFilterFactoryFromProtoTyped (source/extensions/filters/http/cache/config.cc)",
		"TapConfigBaseImpl::TapConfigBaseImpl (source/extensions/common/tap/tap_config_base.cc)",
	},
	Run: read.Each(read.Of(extAuthz), read.Of(authorizationPath), read.Of(checkSettings), read.Of(luaSources), read.Of(cacheBackend), read.Of(secondCacheBackend),
		read.Of(bandwidthLimit), read.Of(bandwidthShare), read.Of(tapOutput)),
})

func extAuthz(p *lint.Pass, at lint.At, m *extauthzv3.ExtAuthz) {
	//nolint:staticcheck // deprecated, and in use
	if m.GetAllowedHeaders() != nil && m.GetHttpService().GetAuthorizationRequest().GetAllowedHeaders() != nil {
		p.Reject(at.Field("http_service", "authorization_request", "allowed_headers").Key(), lint.Rejection{
			Message:  "allowed_headers is set twice",
			Help:     "keep allowed_headers of the filter itself",
			Upstream: "Invalid duplicate configuration for allowed_headers.",
			Related:  []lint.Related{lint.RelatedTo(at.Field("allowed_headers").Key(), "the other one")},
		})
	}
}

func authorizationPath(p *lint.Pass, at lint.At, m *extauthzv3.HttpService) {
	if m.GetPathPrefix() != "" && m.GetPathOverride() != "" && !p.Target.Before("1.38") {
		p.Reject(at.Field("path_override").Key(), lint.Rejection{
			Message:  "path_override cannot be combined with path_prefix",
			Help:     "keep one of them",
			Upstream: "Only one of path_prefix or path_override may be set, not both.",
			Related:  []lint.Related{lint.RelatedTo(at.Field("path_prefix").Key(), "the other one")},
		})
	}
}

func checkSettings(p *lint.Pass, at lint.At, m *extauthzv3.CheckSettings) {
	if m.GetDisableRequestBodyBuffering() && m.GetWithRequestBody() != nil {
		p.Reject(at.Field("with_request_body").Key(), lint.Rejection{
			Message:  "with_request_body cannot be combined with disable_request_body_buffering",
			Help:     "keep one of them",
			Upstream: "Invalid configuration for check_settings. Only one of disable_request_body_buffering or with_request_body can be set.",
		})
	}
}

func luaSources(p *lint.Pass, at lint.At, m *luav3.Lua) {
	//nolint:staticcheck // deprecated, and in use
	if m.GetDefaultSourceCode() != nil && m.GetInlineCode() != "" {
		p.Reject(at.Field("inline_code").Key(), lint.Rejection{
			Message:  "inline_code cannot be combined with default_source_code",
			Help:     "keep default_source_code",
			Upstream: "Error: Only one of `inline_code` or `default_source_code` can be set for the Lua filter.",
		})
	}
}

func cacheBackend(p *lint.Pass, at lint.At, m *cachev3.CacheConfig) {
	checkCache(p, at, m.GetDisabled().GetValue(), m.GetTypedConfig())
}

func secondCacheBackend(p *lint.Pass, at lint.At, m *cachev2.CacheV2Config) {
	checkCache(p, at, m.GetDisabled().GetValue(), m.GetTypedConfig())
}

func checkCache(p *lint.Pass, at lint.At, disabled bool, config *anypb.Any) {
	if !disabled && config == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the cache filter does not have a cache",
			Help:     "add typed_config, or disabled: true",
			Upstream: "at least one of typed_config or disabled must be set",
		})
	}
}

func bandwidthLimit(p *lint.Pass, at lint.At, m *bandwidthv3.BandwidthLimit) {
	if m.GetLimitKbps() == nil && perRoute(at) {
		p.Reject(at, lint.Rejection{
			Message:  "the bandwidth limit of a route does not have limit_kbps",
			Help:     "add limit_kbps",
			Upstream: "limit must be set for per route filter config",
		})
	}
}

func bandwidthShare(p *lint.Pass, at lint.At, m *sharev3.BandwidthShare) {
	if m.GetResponseTrailerPrefix() != "" && !m.GetEnableResponseTrailers() {
		p.Reject(at.Field("response_trailer_prefix").Key(), lint.Rejection{
			Message:  "response_trailer_prefix is only for enable_response_trailers: true",
			Help:     "add enable_response_trailers: true, or remove the prefix",
			Upstream: "enable_response_trailers must be true if response_trailer_prefix is set",
		})
	}
}

func tapOutput(p *lint.Pass, at lint.At, m *commontapv3.CommonExtensionConfig) {
	tap := m.GetStaticConfig()
	if tap == nil {
		return
	}
	own := at.Field("static_config")
	if len(tap.GetOutputConfig().GetSinks()) != 1 {
		return // breaks a constraint
	}
	sink := own.Field("output_config").Item("sinks", 0)
	switch tap.GetOutputConfig().GetSinks()[0].GetOutputSinkType().(type) {
	case *tapv3.OutputSink_StreamingAdmin:
		rejectAdminSink(p, sink.Field("streaming_admin").Key(), "Error: Specifying admin streaming output without configuring admin.")
	case *tapv3.OutputSink_BufferedAdmin:
		rejectAdminSink(p, sink.Field("buffered_admin").Key(), "Output sink type BufferedAdmin requires that the admin output will be configured via admin")
	}
	//nolint:staticcheck // deprecated, and in use
	if tap.GetMatch() == nil && tap.GetMatchConfig() == nil {
		p.Reject(own, lint.Rejection{
			Message:  "the tap does not say which requests it records",
			Help:     "add match: {any_match: true}, or conditions",
			Upstream: "Neither match nor match_config is set in TapConfig",
		})
	}
}

func rejectAdminSink(p *lint.Pass, at lint.At, upstream string) {
	p.Reject(at, lint.Rejection{
		Message:  "a tap with a static_config cannot write to the admin interface",
		Help:     "use admin_config, or a sink such as file_per_tap",
		Upstream: upstream,
	})
}
