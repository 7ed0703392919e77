package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "crl-without-list",
	Severity: lint.Error,
	Summary:  "crl holds no revocation list, so Envoy rejects the certificate of every peer",
	Links:    []string{"DefaultCertValidator::initializeSslContexts (source/common/tls/cert_validator/default_validator.cc)"},
	Run: eachValidation(func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext, _ []use) {
		text, ok := dataOf(at, v.GetCrl())
		if !ok || len(text) == 0 || v.GetTrustedCa() == nil || v.GetCustomValidatorConfig() != nil ||
			v.GetTrustChainVerification() == tlsv3.CertificateValidationContext_ACCEPT_UNTRUSTED {
			return
		}
		_, known := dataOf(at, v.GetTrustedCa())
		if lists, err := revocationsIn(p, at, v.GetTrustedCa()); !known || err != nil || lists > 0 {
			return // which also holds them
		}
		if lists, err := revocationsIn(p, at, v.GetCrl()); err == nil && lists == 0 {
			p.Report(at.Field("crl"), lint.Diagnostic{
				Message: "there is no revocation list in crl, so Envoy rejects the certificate of every peer",
				Notes:   []string{"with crl, Envoy requires a list of the authority of each certificate that it verifies"},
				Help:    "write the lists of the authorities in PEM, which begin with -----BEGIN X509 CRL-----, or remove crl",
			})
		}
	}),
})
