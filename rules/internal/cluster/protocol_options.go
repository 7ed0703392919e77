package cluster

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "protocol-options",
	Severity: lint.Error,
	Summary:  "the protocol options of a cluster contradict each other",
	Links: []string{
		"createOptions (source/common/upstream/upstream_impl.cc)",
		"ProtocolOptionsConfigImpl::createProtocolOptionsConfig (source/extensions/upstreams/http/config.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		h, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok {
			return
		}
		common := c.GetCommonHttpProtocolOptions() //nolint:staticcheck // deprecated, and in use
		if h.Typed != nil {
			common = h.Typed.GetCommonHttpProtocolOptions()
			if auto := h.Typed.GetAutoConfig(); auto.GetHttp3ProtocolOptions() != nil && auto.GetAlternateProtocolsCacheOptions() == nil {
				p.Reject(h.At.Field("auto_config", "http3_protocol_options").Key(), lint.Rejection{
					Message:  "HTTP/3 in an auto_config needs alternate_protocols_cache_options",
					Help:     "add alternate_protocols_cache_options: {name: …} to the auto_config",
					Upstream: "alternate protocols cache must be configured when HTTP/3 is enabled with auto_config",
				})
			}
			if h.Typed.GetHeaderValidationConfig() != nil {
				p.Reject(h.At.Field("header_validation_config").Key(), lint.Rejection{
					Message:  "the official builds of Envoy do not have header validators",
					Help:     "remove it",
					Upstream: "This Envoy binary does not support header validator extensions",
				})
			}
		} else if c.GetProtocolSelection() == clusterv3.Cluster_USE_CONFIGURED_PROTOCOL && //nolint:staticcheck // deprecated, and in use
			c.GetHttpProtocolOptions() != nil && c.GetHttp2ProtocolOptions() != nil { //nolint:staticcheck // deprecated, and in use
			p.Reject(at.Field("http_protocol_options").Key(), lint.Rejection{
				Message:  "a cluster has either http_protocol_options or http2_protocol_options",
				Help:     "remove one of them, or write use_downstream_protocol_config in typed_extension_protocol_options",
				Upstream: "cluster: Both HTTP1 and HTTP2 options may only be configured with non-default 'protocol_selection' values",
			})
		}
		if c.GetMaxRequestsPerConnection() != nil && common.GetMaxRequestsPerConnection() != nil { //nolint:staticcheck // deprecated, and in use
			p.Reject(at.Field("max_requests_per_connection"), lint.Rejection{
				Message:  "max_requests_per_connection is set both in the cluster and in its common_http_protocol_options",
				Help:     "remove it here: this field is deprecated",
				Upstream: "Only one of max_requests_per_connection from Cluster or HttpProtocolOptions can be specified",
			})
		}
	}),
})
