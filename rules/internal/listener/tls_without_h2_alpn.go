package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "tls-without-h2-alpn",
	Severity: lint.Info,
	Summary:  "a filter chain with TLS offers no protocols, so that clients use HTTP/1.1",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/best_practices/edge",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto",
	},
	Run: eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, c := range chains(at, l) {
			socket, own := envoy.Content(c.at.Field("transport_socket", "typed_config"), c.GetTransportSocket().GetTypedConfig())
			context, ok := socket.(*tlsv3.DownstreamTlsContext)
			if !ok || len(context.GetCommonTlsContext().GetAlpnProtocols()) > 0 || !speaksHTTP2(c) {
				continue
			}
			p.Report(own.Field("common_tls_context").Key(), lint.Diagnostic{
				Message: "clients do not learn that this listener speaks HTTP/2, and use HTTP/1.1",
				Notes:   []string{"clients use HTTP/2 over TLS only if the server selects h2 by ALPN"},
				Help:    "add alpn_protocols: [h2, http/1.1]",
			})
		}
	}),
})

// speaksHTTP2 reports whether a filter chain speaks HTTP/2 with clients that ask for it.
func speaksHTTP2(c chain) bool {
	for i, f := range c.GetFilters() {
		config, _ := envoy.Content(c.at.Item("filters", i).Field("typed_config"), f.GetTypedConfig())
		if m, ok := config.(*hcmv3.HttpConnectionManager); ok {
			return m.GetCodecType() == hcmv3.HttpConnectionManager_AUTO || m.GetCodecType() == hcmv3.HttpConnectionManager_HTTP2
		}
	}
	return false
}
