package tls

import (
	"fmt"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weak-signature",
	Severity: lint.Warning,
	Summary:  "a certificate is signed with a hash that clients do not accept",
	Links: []string{
		"TlsContext::loadCertificateChain (source/common/tls/context_impl.cc)",
		"https://datatracker.ietf.org/doc/html/rfc9155",
	},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, _ []use) {
		for i, certificate := range chainOf(p, at, c) {
			if certificate == nil || certificate.SelfIssued() || certificate.Outdated() == "" {
				continue
			}
			p.Report(at.Field("certificate_chain"), lint.Diagnostic{
				Message: fmt.Sprintf("%s is signed with %s", member(i), certificate.Outdated()),
				Notes:   []string{"Envoy presents it, and browsers and most libraries close the connection: others can make a certificate with the same hash"},
				Help:    "issue the certificate again, signed with SHA-256",
			})
			return
		}
	}),
})
