package tls

import (
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "certificate-without-name",
	Severity: lint.Error,
	Summary:  "a certificate of a filter chain has no name, or an empty one",
	Links:    []string{"ServerContextImpl::generateHashForSessionContextId (source/common/tls/server_context_impl.cc)"},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use) {
		servers := slices.DeleteFunc(uses, func(u use) bool { return u.server == nil })
		leaf := leafOf(p, at, c)
		if len(servers) == 0 || leaf == nil {
			return
		}
		r := lint.Rejection{Help: "issue a certificate with the names of the server as subject alternative names"}
		switch {
		case len(leaf.CommonNames) > 0 && leaf.CommonNames[0] == "":
			r.Message, r.Upstream = "the common name of this certificate is empty", "Invalid TLS context has an empty subject CN"
		case len(leaf.CommonNames) == 0 && len(leaf.DNSNames)+leaf.OtherNames == 0:
			r.Message, r.Upstream = "this certificate has neither a common name nor a subject alternative name", "Invalid TLS context has neither subject CN nor SAN names"
		default:
			return
		}
		rejectLate(p, at.Field("certificate_chain"), servers, r)
	}),
})
