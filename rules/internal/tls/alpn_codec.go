package tls

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "alpn-codec",
	Severity: lint.Warning,
	Summary:  "a filter chain offers h2 to its clients, and only speaks HTTP/1",
	Links: []string{
		"HttpConnectionManagerConfig::createCodec (source/extensions/filters/network/http_connection_manager/config.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, chain *listenerv3.FilterChain) {
		socket, where := envoy.Content(at.Field("transport_socket", "typed_config"), chain.GetTransportSocket().GetTypedConfig())
		context, ok := socket.(*tlsv3.DownstreamTlsContext)
		if !ok || !offers(context.GetCommonTlsContext(), "h2") {
			return
		}
		for i, f := range chain.GetFilters() {
			config, at := envoy.Content(at.Item("filters", i).Field("typed_config"), f.GetTypedConfig())
			if m, ok := config.(*hcmv3.HttpConnectionManager); ok && m.GetCodecType() == hcmv3.HttpConnectionManager_HTTP1 {
				p.Report(at.Field("codec_type"), lint.Diagnostic{
					Message: "a client that supports HTTP/2 negotiates h2, but this only reads HTTP/1",
					Notes:   []string{"Envoy answers the preface of HTTP/2 as a malformed HTTP/1 request"},
					Help:    "write codec_type: AUTO, or remove h2 from alpn_protocols",
					Fixes:   lint.Replace(at.Field("codec_type"), "AUTO").Likely("speak what is negotiated"),
					Related: []lint.Related{lint.RelatedTo(where.Field("common_tls_context", "alpn_protocols"), "h2 is offered here")},
				})
			}
		}
	}),
})
