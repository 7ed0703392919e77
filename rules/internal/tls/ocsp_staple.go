package tls

import (
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ocsp-staple",
	Severity: lint.Error,
	Summary:  "the OCSP response of a certificate is required and missing, or is not one for it",
	Links: []string{
		"ServerContextImpl::ServerContextImpl (source/common/tls/server_context_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/security/ssl#ocsp-stapling",
	},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use) {
		servers := slices.DeleteFunc(uses, func(u use) bool { return u.server == nil })
		if len(servers) == 0 {
			return
		}
		leaf := leafOf(p, at, c)
		if c.GetOcspStaple().GetSpecifier() == nil {
			missingStaple(p, at, leaf, servers)
			return
		}
		text, ok := dataOf(at, c.GetOcspStaple())
		if !ok || c.GetOcspStaple().GetInlineString() != "" {
			return
		}
		if len(text) == 0 {
			missingStaple(p, at, leaf, servers)
			return
		}
		staple, err := boringssl.OCSP(text)
		switch {
		case err != nil:
			rejectLate(p, at.Field("ocsp_staple"), servers, lint.Rejection{
				Message:  "Envoy cannot read this OCSP response",
				Help:     "write the response of the authority in DER, for one certificate: openssl ocsp -respout FILE",
				Upstream: err.Error(),
			})
		case leaf != nil && !staple.Matches(leaf):
			rejectLate(p, at.Field("ocsp_staple"), servers, lint.Rejection{
				Message:  "this OCSP response is about another certificate: its serial number differs",
				Help:     "ask the authority about this certificate",
				Upstream: "OCSP response does not match its TLS certificate",
			})
		}
	}),
})

// missingStaple reports a certificate without a response that must have one.
func missingStaple(p *lint.Pass, at lint.At, leaf *boringssl.Certificate, servers []use) {
	r := lint.Rejection{Help: "add ocsp_staple with the response of the authority"}
	switch {
	case leaf != nil && leaf.MustStaple:
		r.Message = "this certificate says that an OCSP response comes with it (must-staple), and there is none"
		r.Upstream = "OCSP response is required for must-staple certificate"
	case slices.ContainsFunc(servers, func(u use) bool { return u.server.GetOcspStaplePolicy() == tlsv3.DownstreamTlsContext_MUST_STAPLE }):
		r.Message = "ocsp_staple_policy is MUST_STAPLE, and this certificate has no OCSP response"
		r.Help += ", or change ocsp_staple_policy"
		r.Upstream = "Required OCSP response is missing from TLS context"
	default:
		return
	}
	rejectLate(p, at, servers, r)
}
