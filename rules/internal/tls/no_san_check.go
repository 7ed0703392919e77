package tls

import (
	"fmt"
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-san-check",
	Severity: lint.Warning,
	Summary:  "a cluster trusts the public authorities and does not compare names, so it accepts the certificate of any website",
	Links: []string{
		"DefaultCertValidator::verifyCertificate (source/common/tls/cert_validator/default_validator.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/security/ssl",
		"https://github.com/envoyproxy/envoy/issues/7312",
	},
	Run: eachUpstream(func(p *lint.Pass, at lint.At, u upstream) {
		field := publicAuthorities(u.GetCommonTlsContext().GetValidationContext())
		if field == "" || comparesNames(u) {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("cluster %q accepts every certificate of a public authority, whatever its name", u.cluster.GetName()),
			Notes:   []string{"Envoy verifies who signed the certificate, and does not compare its names with the host or with sni"},
			Help:    "add auto_sni_san_validation: true with an sni, or match_typed_subject_alt_names",
		}
		if u.GetSni() != "" {
			d.Fixes = lint.Insert(at, "auto_sni_san_validation", true).Likely("accept only certificates for sni")
		}
		p.Report(at.Field("common_tls_context", "validation_context", field).Key(), d)
	}),
})

// bundles are the files in which systems keep the certificates of the public authorities.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/ca-bundle.crt", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
}

// publicAuthorities returns the field by which a context trusts the public authorities, or "".
func publicAuthorities(v *tlsv3.CertificateValidationContext) string {
	switch {
	case v.GetSystemRootCerts() != nil:
		return "system_root_certs"
	case slices.Contains(bundles, v.GetTrustedCa().GetFilename()):
		return "trusted_ca"
	}
	return ""
}

// comparesNames reports whether Envoy accepts only some of the certificates that a trusted authority has signed.
func comparesNames(u upstream) bool {
	v := u.GetCommonTlsContext().GetValidationContext()
	return requiresCertificate(v) || v.GetCustomValidatorConfig() != nil || u.http.Upstream(u.cluster).GetAutoSanValidation() ||
		u.GetAutoSniSanValidation() && u.sendsName()
}

// requiresCertificate reports whether a context compares the names of certificates or pins them, for which the peer needs a certificate.
func requiresCertificate(v *tlsv3.CertificateValidationContext) bool {
	return len(v.GetMatchTypedSubjectAltNames())+len(v.GetMatchSubjectAltNames())+ //nolint:staticcheck // deprecated, and in use
		len(v.GetVerifyCertificateHash())+len(v.GetVerifyCertificateSpki()) > 0
}
