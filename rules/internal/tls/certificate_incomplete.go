package tls

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "certificate-incomplete",
	Severity: lint.Error,
	Summary:  "a TLS certificate has no chain or no private key, or its fields exclude each other",
	Links:    []string{"TlsCertificateConfigImpl::TlsCertificateConfigImpl (source/common/ssl/tls_certificate_config_impl.cc)"},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, _ []use) {
		if at.Resource().Kind != graph.Secret && !isSet(c) {
			return
		}
		if _, inline := c.GetOcspStaple().GetSpecifier().(*corev3.DataSource_InlineString); inline {
			p.Reject(at.Field("ocsp_staple", "inline_string").Key(), lint.Rejection{
				Message:  "an OCSP response is binary, and inline_string cannot hold it",
				Help:     "write inline_bytes with the response in base64, or a filename",
				Upstream: "OCSP staple cannot be provided via inline_string",
			})
		}
		if c.GetPkcs12() != nil {
			besidesPKCS12(p, at, c)
			return
		}
		if empty(at, c.GetPrivateKey()) && c.GetPrivateKeyProvider() == nil {
			p.Reject(at, lint.Rejection{
				Message:  "this TLS certificate has no private key",
				Help:     "add private_key",
				Upstream: "Failed to load incomplete private key from path",
			})
		} else if empty(at, c.GetCertificateChain()) {
			p.Reject(at, lint.Rejection{
				Message:  "this TLS certificate has no certificate chain",
				Help:     "add certificate_chain",
				Upstream: "Failed to load incomplete certificate from",
			})
		}
	}),
})

// empty reports whether a data source is known to hold nothing.
func empty(at lint.At, s *corev3.DataSource) bool {
	data, ok := dataOf(at, s)
	return s.GetSpecifier() == nil || ok && len(data) == 0
}

// besidesPKCS12 reports what excludes pkcs12, which holds a chain and a key.
func besidesPKCS12(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) {
	for _, other := range []struct {
		field string
		set   bool
	}{
		{"private_key_provider", c.GetPrivateKeyProvider() != nil},
		{"certificate_chain", c.GetCertificateChain() != nil},
		{"private_key", c.GetPrivateKey() != nil},
	} {
		if other.set {
			p.Reject(at.Field(other.field).Key(), lint.Rejection{
				Message:  "a TLS certificate cannot have both pkcs12 and " + other.field,
				Help:     "remove one of them",
				Upstream: "Certificate configuration can't have both pkcs12 and " + other.field,
			})
			return
		}
	}
}
