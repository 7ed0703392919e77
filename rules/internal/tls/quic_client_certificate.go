package tls

import (
	quicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/quic/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "quic-client-certificate",
	Severity: lint.Error,
	Summary:  "a QUIC listener requires client certificates, which Envoy does not support",
	Links:    []string{"QuicServerTransportSocketConfigFactory::createTransportSocketFactory (source/common/quic/quic_server_transport_socket_factory.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *quicv3.QuicDownstreamTransport) {
		context := m.GetDownstreamTlsContext()
		if at.Place.Parent == nil || !context.GetRequireClientCertificate().GetValue() {
			return
		}
		p.Reject(at.Field("downstream_tls_context", "require_client_certificate"), lint.Rejection{
			Message:  "clients cannot authenticate with certificates over QUIC",
			Help:     "remove require_client_certificate, and serve these clients over TCP",
			Upstream: "TLS Client Authentication is not supported over QUIC",
		})
	}),
})
