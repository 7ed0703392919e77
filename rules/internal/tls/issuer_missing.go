package tls

import (
	"bytes"
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "issuer-missing",
	Severity: lint.Warning,
	Summary:  "a certificate chain lacks the certificate that issued its first one",
	Links: []string{
		"TlsContext::loadCertificateChain (source/common/tls/context_impl.cc)",
		"https://datatracker.ietf.org/doc/html/rfc8446#section-4.4.2",
		"https://cabforum.org/working-groups/server/baseline-requirements/requirements/",
	},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, _ []use) {
		chain := chainOf(p, at, c)
		if len(chain) == 0 || slices.Contains(chain, nil) || chain[0].SelfIssued() {
			return
		}
		leaf, others := chain[0], chain[1:]
		if slices.ContainsFunc(others, func(c *boringssl.Certificate) bool { return bytes.Equal(c.Subject, leaf.Issuer) }) {
			return
		}
		isAbove := slices.ContainsFunc(others, func(c *boringssl.Certificate) bool { return bytes.Equal(c.Issuer, leaf.Issuer) })
		d := lint.Diagnostic{
			Message: "the certificate of the issuer is not in this chain",
			Help:    "write the certificate of the issuer after this one; a file with a name such as fullchain.pem has both",
		}
		if len(leaf.IssuerNames) > 0 {
			d.Message = "the certificate of the issuer, " + leaf.IssuerNames[0] + ", is not in this chain"
		}
		switch {
		case leaf.Website:
			d.Notes = []string{"no authority that browsers trust issues such a certificate itself, and peers that do not have the certificate in between close the connection"}
		case !isAbove && slices.ContainsFunc(others, func(c *boringssl.Certificate) bool { return c.CA }):
			d.Notes = []string{"the other certificates here did not issue the first one, and peers that do not have the missing one close the connection"}
		default:
			return // peers may know the authority that issued it
		}
		p.Report(at.Field("certificate_chain"), d)
	}),
})
