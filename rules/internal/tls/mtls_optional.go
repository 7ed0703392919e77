package tls

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	quicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/quic/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mtls-optional",
	Severity: lint.Warning,
	Summary:  "a listener verifies client certificates, but does not say whether clients need one",
	Links: []string{
		"ServerContextConfigImpl::ServerContextConfigImpl (source/common/tls/server_context_config_impl.cc)",
		"https://github.com/envoyproxy/envoy/pull/41211",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *tlsv3.DownstreamTlsContext) {
		v := m.GetCommonTlsContext().GetValidationContext()
		if m.GetRequireClientCertificate() != nil || !envoy.VerifiesPeer(m.GetCommonTlsContext()) || v == nil || v.GetCustomValidatorConfig() != nil || requiresCertificate(v) {
			return
		}
		if _, quic := graph.Around[*quicv3.QuicDownstreamTransport](at.Place); quic != nil || !decidesItself(at) {
			return
		}
		p.Report(at.Field("common_tls_context", "validation_context").Key(), lint.Diagnostic{
			Message: "a client without a certificate is accepted, because require_client_certificate is not set",
			Notes:   []string{"Envoy verifies a certificate if the client sends one; it logs that this default is insecure and will change"},
			Help:    "write require_client_certificate: true; or false, if clients without a certificate are welcome",
			Fixes:   lint.Insert(at, "require_client_certificate", true).Likely("require a certificate"),
		})
	}),
})

// decidesItself reports whether Envoy alone decides who is served: it serves requests of the filter chain around a context, and does not pass on
// who the client is.
func decidesItself(at lint.At) bool {
	chain, where := graph.Around[*listenerv3.FilterChain](at.Place)
	for i, f := range chain.GetFilters() {
		m, _ := envoy.Content(where.At().Item("filters", i).Field("typed_config"), f.GetTypedConfig())
		manager, ok := m.(*hcmv3.HttpConnectionManager)
		if ok && manager.GetForwardClientCertDetails() != hcmv3.HttpConnectionManager_SANITIZE {
			return false
		}
	}
	return len(chain.GetFilters()) > 0
}
