package tls

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "certificate-count",
	Severity: lint.Error,
	Summary:  "a filter chain with TLS has no certificate, or a cluster has several",
	Links: []string{
		"ServerContextConfigImpl::ServerContextConfigImpl (source/common/tls/server_context_config_impl.cc)",
		"ClientContextConfigImpl::ClientContextConfigImpl (source/common/tls/context_config_impl.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, _ protoreflect.Message) {
		u, ok := useAround(p, at.Place)
		if !ok {
			return
		}
		if u.common != nil {
			at = at.Field("common_tls_context")
		}
		here, overSDS := len(u.common.GetTlsCertificates()), len(u.common.GetTlsCertificateSdsSecretConfigs())
		switch {
		case u.server == nil && here+overSDS > 1:
			p.Reject(at, lint.Rejection{
				Message:  fmt.Sprintf("a cluster can have one TLS certificate, and this one has %d", here+overSDS),
				Help:     "keep one of them",
				Upstream: "Multiple TLS certificates are not supported for client contexts",
			})
		case u.server == nil, u.custom():
		case here+overSDS == 0 && u.common.GetCustomTlsCertificateSelector() == nil:
			p.Reject(at, lint.Rejection{
				Message:  "there is no TLS certificate for this filter chain",
				Help:     "add tls_certificates, or tls_certificate_sds_secret_configs",
				Upstream: "No TLS certificates found for server context",
			})
		case here > 0 && overSDS == 0 && !slices.ContainsFunc(u.common.GetTlsCertificates(), isSet):
			rejectLate(p, at.Field("tls_certificates").Key(), []use{u}, lint.Rejection{
				Message:  "tls_certificates has no certificate: Envoy skips entries that are empty",
				Help:     "write certificate_chain and private_key",
				Upstream: "Server TlsCertificates must have a certificate specified",
			})
		case here > 0 && overSDS > 0:
			p.Reject(at.Field("tls_certificate_sds_secret_configs").Key(), lint.Rejection{
				Message:  "a filter chain cannot have both tls_certificates and tls_certificate_sds_secret_configs",
				Help:     "remove one of them",
				Upstream: "SDS and non-SDS TLS certificates may not be mixed in server contexts",
			})
		}
	}, "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"),
})

// isSet reports whether Envoy does not skip a certificate (getTlsCertificateConfigProviders in source/common/tls/context_config_impl.cc).
func isSet(c *tlsv3.TlsCertificate) bool {
	return c.GetPkcs12() != nil || c.GetCertificateChain() != nil || c.GetPrivateKey() != nil || c.GetPrivateKeyProvider() != nil
}
