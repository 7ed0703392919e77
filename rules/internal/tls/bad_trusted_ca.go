package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bad-trusted-ca",
	Severity: lint.Error,
	Summary:  "trusted certificates or a revocation list that Envoy cannot read",
	Links: []string{
		"DefaultCertValidator::initializeSslContexts (source/common/tls/cert_validator/default_validator.cc)",
		"CertificateValidationContextConfigImpl::create (source/common/ssl/certificate_validation_context_config_impl.cc)",
	},
	Run: eachValidation(func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext, uses []use) {
		ca, ok := dataOf(at, v.GetTrustedCa())
		if ok && len(ca) == 0 {
			p.Reject(at.Field("trusted_ca"), lint.Rejection{
				Message: "trusted_ca is empty", Help: "write the certificate of an authority in PEM", Upstream: saysEmpty(v.GetTrustedCa()),
			})
			return
		}
		if v.GetCustomValidatorConfig() != nil {
			return
		}
		if ok {
			if _, err := authoritiesIn(p, at, v.GetTrustedCa()); err != nil {
				rejectLate(p, at.Field("trusted_ca"), uses, lint.Rejection{
					Message:  "Envoy cannot read the certificates in trusted_ca: " + err.Error(),
					Help:     "write the certificates of authorities in PEM",
					Upstream: "Failed to load trusted CA certificates from",
				})
			}
		}
		crl, ok := dataOf(at, v.GetCrl())
		if !ok || len(crl) == 0 || v.GetTrustedCa() == nil {
			return
		}
		if _, err := revocationsIn(p, at, v.GetCrl()); err != nil {
			rejectLate(p, at.Field("crl"), uses, lint.Rejection{
				Message:  "Envoy cannot read the revocation lists in crl: " + err.Error(),
				Help:     "write the revocation lists of the authorities in PEM",
				Upstream: "Failed to load CRL from",
			})
		}
	}),
})
