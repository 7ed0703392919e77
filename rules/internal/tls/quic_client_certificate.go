package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "quic-client-certificate",
	Severity: lint.Error,
	Summary:  "a QUIC listener requires client certificates, which Envoy does not support or has nothing to verify with",
	Links:    []string{"QuicServerTransportSocketConfigFactory::createTransportSocketFactory (source/common/quic/quic_server_transport_socket_factory.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *tlsv3.DownstreamTlsContext) {
		u, ok := useAround(p, at.Place)
		if !ok || !u.quic || !m.GetRequireClientCertificate().GetValue() {
			return
		}
		r := lint.Rejection{Message: "clients that authenticate over QUIC need a validation context", Help: "add a validation_context with trusted_ca"}
		v, known := validationOf(p, u.common)
		switch {
		case p.Target.Before("1.40") || !envoy.RuntimeOf(p.Snapshot).Guard("envoy.reloadable_features.quic_mtls_server_enabled", true):
			r.Message, r.Help = "clients cannot authenticate with certificates over QUIC", "remove require_client_certificate, and serve these clients over TCP"
			r.Upstream = "TLS Client Authentication is not supported over QUIC"
		case !known:
			return
		case v == nil:
			r.Upstream = "QUIC downstream TLS context sets require_client_certificate but configures no validation context."
		case v.GetTrustedCa() == nil && v.GetCustomValidatorConfig() == nil && v.GetTrustChainVerification() != tlsv3.CertificateValidationContext_ACCEPT_UNTRUSTED:
			r.Message = "the validation context has nothing to verify certificates of clients with"
			r.Upstream = "QUIC downstream TLS context sets require_client_certificate but its validation context has no trusted_ca"
		default:
			return
		}
		p.Reject(at.Field("require_client_certificate"), r)
	}),
})
