package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-trusted-ca",
	Severity: lint.Error,
	Summary:  "settings about certificates of a peer that need a trusted CA, without one",
	Links: []string{
		"CertificateValidationContextConfigImpl::initialize (source/common/ssl/certificate_validation_context_config_impl.cc)",
		"ClientContextImpl::ClientContextImpl (source/common/tls/client_context_impl.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		switch m := m.Interface().(type) {
		case *tlsv3.CertificateValidationContext:
			if field, r := needsCA(at, m); field != "" && len(validationUses(p, at)) > 0 {
				p.Reject(at.Field(field).Key(), r)
			}
		case *tlsv3.CommonTlsContext_CombinedCertificateValidationContext:
			combinedNeedsCA(p, at, m)
		case *tlsv3.UpstreamTlsContext:
			if u, ok := useAround(p, at.Place); ok && m.GetAutoSniSanValidation() {
				autoSANNeedsCA(p, at, u)
			}
		}
	}, nameOf(&tlsv3.CertificateValidationContext{}), nameOf(&tlsv3.CommonTlsContext_CombinedCertificateValidationContext{}), nameOf(&tlsv3.UpstreamTlsContext{})),
})

// needsCA returns the first setting that Envoy does not accept without an authority, and what to report. The field is empty if there is none.
func needsCA(at lint.At, v *tlsv3.CertificateValidationContext) (field string, r lint.Rejection) {
	if v.GetTrustedCa() != nil || v.GetCustomValidatorConfig() != nil {
		return "", r
	}
	r.Help = "add trusted_ca"
	if v.GetSystemRootCerts() != nil {
		r.Help = "write trusted_ca with the file of the system's certificates: only gRPC clients know system_root_certs"
	}
	switch crl, known := dataOf(at, v.GetCrl()); {
	case known && len(crl) > 0:
		field, r.Message, r.Upstream = "crl", "a revocation list needs a trusted CA", "Failed to load CRL from"
	case len(v.GetMatchTypedSubjectAltNames()) > 0:
		field = "match_typed_subject_alt_names"
	case len(v.GetMatchSubjectAltNames()) > 0:
		field = "match_subject_alt_names"
	case v.GetAllowExpiredCertificate():
		field, r.Message = "allow_expired_certificate", "without a trusted CA, Envoy never looks at the expiry of certificates"
		r.Upstream = "Certificate validity period is always ignored without trusted CA"
		r.Help += ", or remove allow_expired_certificate"
	}
	if r.Message == "" {
		r.Message = "names are compared only in certificates that a trusted CA has signed, and there is none"
		r.Upstream = "SAN-based verification of peer certificates without trusted CA is insecure and not allowed"
	}
	return field, r
}

// combinedNeedsCA checks what Envoy merges of a context and a static secret.
func combinedNeedsCA(p *lint.Pass, at lint.At, m *tlsv3.CommonTlsContext_CombinedCertificateValidationContext) {
	fixed := fixedValidation(p, m.GetValidationContextSdsSecretConfig())
	if _, ok := useAround(p, at.Place); !ok || fixed == nil {
		return
	}
	merged := mergedValidation(m, fixed)
	if field, r := needsCA(at, merged); field != "" {
		p.Reject(at.Field("default_validation_context").Key(), r)
	}
}

// autoSANNeedsCA checks auto_sni_san_validation, for which there must be a validation context with an authority.
func autoSANNeedsCA(p *lint.Pass, at lint.At, u use) {
	r := lint.Rejection{
		Message:  "auto_sni_san_validation needs a validation_context with a trusted CA",
		Help:     "add validation_context with trusted_ca",
		Upstream: "'auto_sni_san_validation' was configured without a validation context",
	}
	if v := u.common.GetValidationContext(); v != nil {
		r.Upstream = "'auto_sni_san_validation' was configured without configuring a trusted CA"
		if v.GetTrustedCa() != nil || v.GetCustomValidatorConfig() != nil {
			return
		}
	} else if u.common.GetValidationContextType() != nil {
		return // from a secret
	}
	rejectLate(p, at.Field("auto_sni_san_validation"), []use{u}, r)
}
