package tls

import (
	"errors"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bad-private-key",
	Severity: lint.Error,
	Summary:  "a private key that Envoy cannot read, or that is not the key of the certificate",
	Links:    []string{"TlsContext::loadPrivateKey (source/common/tls/context_impl.cc)"},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use) {
		if c.GetPkcs12() != nil || c.GetPrivateKeyProvider() != nil {
			return
		}
		text, ok := dataOf(at, c.GetPrivateKey())
		if !ok || len(text) == 0 {
			return
		}
		key, err := privateKeyIn(p, at, c)
		leaf := leafOf(p, at, c)
		switch {
		case err != nil:
			field, help := mendKey(err)
			rejectLate(p, at.Field(field), uses, lint.Rejection{
				Message: "Envoy cannot read this private key: " + err.Error(), Help: help, Upstream: "Failed to load private key from",
			})
		case leaf != nil && key.Differs(leaf):
			rejectLate(p, at.Field("private_key"), uses, lint.Rejection{
				Message:  "this private key is not that of the certificate",
				Help:     "write the certificate and the key that were made for each other; the certificate of the server is the first in the chain",
				Upstream: "KEY_VALUES_MISMATCH",
				Related:  []lint.Related{lint.RelatedTo(at.Field("certificate_chain"), "this is the certificate")},
			})
		}
	}),
})

// mendKey returns the field that is wrong, and what to do about it.
func mendKey(err error) (field, help string) {
	switch {
	case errors.Is(err, boringssl.ErrPassword):
		return "password", "write the password with which the key was encrypted; a file must not end with a line break (printf, not echo)"
	case errors.Is(err, boringssl.ErrMethod):
		return "private_key", "encrypt it with PBKDF2, SHA-256 and AES-256-CBC: openssl pkcs8 -topk8"
	}
	return "private_key", "write the private key of the certificate in PEM"
}
