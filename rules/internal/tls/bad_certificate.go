package tls

import (
	"errors"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

const unreadChain = "Failed to load certificate chain from"

var _ = Rules.Add(&lint.Rule{
	Name:     "bad-certificate",
	Severity: lint.Error,
	Summary:  "a certificate chain that Envoy cannot read, or whose key it does not accept",
	Links: []string{
		"TlsContext::loadCertificateChain, ContextImpl::ContextImpl (source/common/tls/context_impl.cc)",
		"SSLCredential::SetLeafCert (BoringSSL, ssl/ssl_credential.cc)",
	},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use) {
		if c.GetPkcs12() != nil {
			badPKCS12(p, at, c, uses)
			return
		}
		text, ok := dataOf(at, c.GetCertificateChain())
		if !ok || len(text) == 0 {
			return
		}
		chain, err := chainIn(p, at, c.GetCertificateChain())
		if err != nil {
			rejectLate(p, at.Field("certificate_chain"), uses, lint.Rejection{
				Message:  "Envoy cannot read this certificate chain: " + err.Error(),
				Help:     "write the certificate and those of its issuers in PEM, the certificate first",
				Upstream: unreadChain,
			})
			return
		}
		if why, upstream := chain[0].Unfit(); why != "" {
			rejectLate(p, at.Field("certificate_chain"), uses, lint.Rejection{
				Message:  "Envoy does not accept this certificate: " + why,
				Help:     "issue a certificate for a key of RSA with at least 2048 bits, or of P-256, that may be used for digital signatures",
				Upstream: upstream,
			})
		}
	}),
})

func badPKCS12(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use) {
	if c.GetPrivateKey() != nil || c.GetCertificateChain() != nil || c.GetPrivateKeyProvider() != nil {
		return // Envoy does not get that far
	}
	text, ok := dataOf(at, c.GetPkcs12())
	if !ok {
		return
	}
	r := lint.Rejection{Help: "write a file with a certificate and its key: openssl pkcs12 -export", Upstream: "Failed to load pkcs12 from"}
	field := "pkcs12"
	if err := pkcs12In(p, at, c); err != nil {
		r.Message = "Envoy cannot read the certificate in pkcs12: " + err.Error()
		if errors.Is(err, boringssl.ErrPassword) {
			field, r.Help = "password", "write the password with which the file was made; a file with a password must not end with a line break (printf, not echo)"
		}
	}
	if len(text) == 0 {
		r.Message, r.Upstream = "pkcs12 is empty", unreadChain
	}
	if r.Message != "" {
		rejectLate(p, at.Field(field), uses, r)
	}
}
