package tls

import (
	"fmt"
	"slices"
	"time"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "expiry",
	Severity: lint.Warning,
	Summary:  "a certificate has expired on the date of --now, expires soon, or is not valid yet",
	Links: []string{
		"DefaultCertValidator::doVerifyCertChain (source/common/tls/cert_validator/default_validator.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/security/ssl",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if p.Clock.Now.IsZero() {
			return
		}
		switch m := m.Interface().(type) {
		case *tlsv3.TlsCertificate:
			if len(native(usesOf(p, at.Place, "tls_certificate_sds_secret_configs"))) > 0 {
				expiryOfChain(p, at, m)
			}
		case *tlsv3.CertificateValidationContext:
			if len(validationUses(p, at)) > 0 && !m.GetAllowExpiredCertificate() && m.GetTrustChainVerification() != tlsv3.CertificateValidationContext_ACCEPT_UNTRUSTED {
				expiryOfAuthorities(p, at, m)
			}
		}
	}, nameOf(&tlsv3.TlsCertificate{}), nameOf(&tlsv3.CertificateValidationContext{})),
})

// expiryOfChain looks at each certificate of a chain, and reports the first that is not valid.
func expiryOfChain(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) {
	for i, certificate := range chainOf(p, at, c) {
		if certificate != nil && expires(p, at.Field("certificate_chain"), member(i), certificate) {
			return
		}
	}
}

// expires reports a certificate that is not valid, or not for long.
func expires(p *lint.Pass, at lint.At, what string, c *boringssl.Certificate) bool {
	now, soon := p.Clock.Now, p.Clock.Now.AddDate(0, 0, p.Clock.Days)
	d := lint.Diagnostic{
		Notes: []string{"Envoy accepts it and presents it, and peers that verify certificates close the connection"},
		Help:  "renew the certificate",
	}
	switch {
	case c.NotAfter.Before(now):
		d.Message, d.Severity = fmt.Sprintf("%s expired on %s", what, c.NotAfter.Format(time.DateOnly)), severityOf(now, c.NotAfter)
	case c.NotBefore.After(now.AddDate(0, 0, 1)):
		d.Message = fmt.Sprintf("%s is not valid before %s", what, c.NotBefore.Format(time.DateOnly))
		d.Help = "use a certificate that is valid now"
	case c.NotAfter.Before(soon) && c.NotAfter.Sub(c.NotBefore) > 2*soon.Sub(now): // others are renewed all the time
		d.Message, d.Severity = fmt.Sprintf("%s expires on %s", what, c.NotAfter.Format(time.DateOnly)), lint.Info
		d.Notes = nil
	default:
		return false
	}
	p.Report(at, d)
	return true
}

// severityOf returns the severity of a certificate that has expired. A peer that verifies one that expired long ago has rejected it ever since: what
// still works does not verify it.
func severityOf(now, expired time.Time) lint.Severity {
	if expired.Before(now.AddDate(0, 0, -longAgo)) {
		return lint.Info
	}
	return lint.Warning
}

// longAgo is the number of days after which an expired certificate is reported as an info only.
const longAgo = 30

// expiryOfAuthorities reports trusted certificates of which none is valid: no peer can then have a valid chain.
func expiryOfAuthorities(p *lint.Pass, at lint.At, v *tlsv3.CertificateValidationContext) {
	if _, known := dataOf(at, v.GetTrustedCa()); !known {
		return
	}
	all, err := authoritiesIn(p, at, v.GetTrustedCa())
	valid := func(c *boringssl.Certificate) bool { return c == nil || !c.NotAfter.Before(p.Clock.Now) }
	if err != nil || slices.ContainsFunc(all, valid) {
		return
	}
	last := slices.MaxFunc(all, func(a, b *boringssl.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	message := fmt.Sprintf("the trusted certificate expired on %s", last.NotAfter.Format(time.DateOnly))
	if len(all) > 1 {
		message = fmt.Sprintf("all %d trusted certificates have expired, the last on %s", len(all), last.NotAfter.Format(time.DateOnly))
	}
	p.Report(at.Field("trusted_ca"), lint.Diagnostic{
		Message: message, Severity: severityOf(p.Clock.Now, last.NotAfter), Notes: []string{"Envoy accepts it, and then rejects the certificate of every peer"},
		Help: "renew it",
	})
}
