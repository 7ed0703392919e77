package tls

import (
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "accept-untrusted",
	Severity: lint.Warning,
	Summary:  "a cluster accepts certificates that it could not verify",
	Links: []string{
		"DefaultCertValidator::doVerifyCertChain (source/common/tls/cert_validator/default_validator.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto",
	},
	Run: eachValidation(func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext, uses []use) {
		if v.GetTrustChainVerification() != tlsv3.CertificateValidationContext_ACCEPT_UNTRUSTED || v.GetCustomValidatorConfig() != nil {
			return
		}
		if !slices.ContainsFunc(uses, func(u use) bool { return u.client != nil }) {
			return // a filter such as rbac can look at whether the certificate of a client was verified
		}
		p.Report(at.Field("trust_chain_verification"), lint.Diagnostic{
			Message: "Envoy accepts any certificate of the servers, also one that fails verification",
			Notes:   []string{"trusted_ca, pinned certificates and names are compared, but a mismatch does not close the connection"},
			Help:    "remove trust_chain_verification",
		})
	}),
})
