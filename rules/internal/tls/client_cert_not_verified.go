package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "client-cert-not-verified",
	Severity: lint.Warning,
	Summary:  "a listener requires a client certificate and has nothing to verify it with, so it accepts clients without one",
	Links: []string{
		"ContextImpl::ContextImpl (source/common/tls/context_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/tls.proto",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *tlsv3.DownstreamTlsContext) {
		if !m.GetRequireClientCertificate().GetValue() || envoy.VerifiesPeer(m.GetCommonTlsContext()) {
			return
		}
		p.Report(at.Field("require_client_certificate"), lint.Diagnostic{
			Message: "a client without a certificate is accepted, because there is nothing to verify certificates with",
			Notes:   []string{"without a CA or a pinned certificate Envoy does not verify clients: it accepts any certificate, and none"},
			Help:    "add a validation_context with trusted_ca",
		})
	}),
})
