package cluster

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "http2-settings",
	Severity: lint.Error,
	Summary:  "the custom HTTP/2 SETTINGS of a cluster contradict each other or a named field",
	Links:    []string{"validateCustomSettingsParameters (source/common/http/utility.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		h, ok := envoy.UpstreamHTTPOf(at, c)
		switch {
		case !ok:
		case h.Typed == nil:
			check.HTTP2Settings(p, at.Field("http2_protocol_options"), c.GetHttp2ProtocolOptions()) //nolint:staticcheck // deprecated, and in use
		case h.Typed.GetUseDownstreamProtocolConfig() != nil:
			check.HTTP2Settings(p, h.At.Field("use_downstream_protocol_config", "http2_protocol_options"),
				h.Typed.GetUseDownstreamProtocolConfig().GetHttp2ProtocolOptions())
		case h.Typed.GetAutoConfig() != nil:
			check.HTTP2Settings(p, h.At.Field("auto_config", "http2_protocol_options"), h.Typed.GetAutoConfig().GetHttp2ProtocolOptions())
		default:
			check.HTTP2Settings(p, h.At.Field("explicit_http_config", "http2_protocol_options"),
				h.Typed.GetExplicitHttpConfig().GetHttp2ProtocolOptions())
		}
	}),
})
