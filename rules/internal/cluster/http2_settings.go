package cluster

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "http2-settings",
	Severity: lint.Error,
	Summary:  "the HTTP/2 SETTINGS of a cluster contradict each other, a named field or another limit",
	Links:    []string{"validateCustomSettingsParameters (source/common/http/utility.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		h, ok := envoy.UpstreamHTTPOf(at, c)
		switch common := h.Typed.GetCommonHttpProtocolOptions(); {
		case !ok:
		case h.Typed == nil:
			//nolint:staticcheck // deprecated, and in use
			checkHTTP2(p, at.Field("http2_protocol_options"), c.GetHttp2ProtocolOptions(), c.GetCommonHttpProtocolOptions())
		case h.Typed.GetUseDownstreamProtocolConfig() != nil:
			checkHTTP2(p, h.At.Field("use_downstream_protocol_config", "http2_protocol_options"),
				h.Typed.GetUseDownstreamProtocolConfig().GetHttp2ProtocolOptions(), common)
		case h.Typed.GetAutoConfig() != nil:
			checkHTTP2(p, h.At.Field("auto_config", "http2_protocol_options"), h.Typed.GetAutoConfig().GetHttp2ProtocolOptions(), common)
		default:
			checkHTTP2(p, h.At.Field("explicit_http_config", "http2_protocol_options"),
				h.Typed.GetExplicitHttpConfig().GetHttp2ProtocolOptions(), common)
		}
	}),
})

func checkHTTP2(p *lint.Pass, at lint.At, options *corev3.Http2ProtocolOptions, common *corev3.HttpProtocolOptions) {
	check.HTTP2Settings(p, at, options)
	if limit := common.GetMaxResponseHeadersKb(); limit != nil {
		check.HeaderFieldSize(p, at, options, limit.GetValue(), "max_response_headers_kb")
	}
}
