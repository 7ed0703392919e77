package tls

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bad-fingerprint",
	Severity: lint.Error,
	Summary:  "a pinned certificate or key, or the type of a name, is not written as Envoy reads it",
	Links:    []string{"DefaultCertValidator::initializeSslContexts (source/common/tls/cert_validator/default_validator.cc)"},
	Run: eachValidation(func(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext, uses []use) {
		if v.GetCustomValidatorConfig() != nil {
			return
		}
		for i, hash := range v.GetVerifyCertificateHash() {
			if len(hash) >= 64 && len(hash) <= 95 && !isHash(hash) {
				rejectLate(p, at.Item("verify_certificate_hash", i), uses, lint.Rejection{
					Message:  "this is not a SHA-256 hash in hexadecimal",
					Help:     "write 64 hexadecimal digits, or 32 pairs of them with colons: openssl x509 -noout -fingerprint -sha256 -in FILE",
					Upstream: "Invalid hex-encoded SHA-256",
				})
			}
		}
		for i, hash := range v.GetVerifyCertificateSpki() {
			if decoded, err := base64.StdEncoding.Strict().DecodeString(hash); len(hash) == 44 && (err != nil || len(decoded) != 32 || strings.ContainsAny(hash, "\r\n")) {
				rejectLate(p, at.Item("verify_certificate_spki", i), uses, lint.Rejection{
					Message:  "this is not a SHA-256 hash in base64",
					Help:     "write the hash of the public key, 44 characters of base64 with one = at the end",
					Upstream: "Invalid base64-encoded SHA-256",
				})
			}
		}
		for i, m := range v.GetMatchTypedSubjectAltNames() {
			if m.GetSanType() == tlsv3.SubjectAltNameMatcher_OTHER_NAME && v.GetTrustedCa() != nil && !boringssl.ObjectIdentifier(m.GetOid()) {
				rejectLate(p, at.Item("match_typed_subject_alt_names", i), uses, lint.Rejection{
					Message:  fmt.Sprintf("a name of type OTHER_NAME needs the object identifier of its type, and %q is not one", m.GetOid()),
					Help:     "write oid, such as 1.3.6.1.4.1.311.20.2.3 for a user principal name",
					Upstream: "Failed to create SAN matcher for OTHER_NAME with OID",
				})
			}
		}
	}),
})

// isHash reports whether a text is a hash as Envoy decodes it. It takes out colons only at the length of a fingerprint.
func isHash(text string) bool {
	if len(text) == 95 {
		text = strings.ReplaceAll(text, ":", "")
	}
	decoded, err := hex.DecodeString(text)
	return err == nil && len(decoded) == 32
}
