package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

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
		password, known := dataOf(at, c.GetPassword())
		key, err := privateKeyIn(p, at, c.GetPrivateKey(), c.GetPassword() != nil && (!known || len(password) > 0))
		leaf := leafOf(p, at, c)
		switch {
		case err != nil:
			rejectLate(p, at.Field("private_key"), uses, lint.Rejection{
				Message:  "Envoy cannot read this private key: " + err.Error(),
				Help:     "write the private key of the certificate in PEM",
				Upstream: "Failed to load private key from",
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
