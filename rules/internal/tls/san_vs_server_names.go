package tls

import (
	"fmt"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "san-vs-server-names",
	Severity: lint.Warning,
	Summary:  "a filter chain is for a server name that none of its certificates is for",
	Links: []string{
		"ServerContextImpl::selectTlsContext (source/common/tls/server_context_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/listener/v3/listener_components.proto",
	},
	Run: eachContext(func(p *lint.Pass, at lint.At, u use) {
		chain, where := graph.Around[*listenerv3.FilterChain](at.Place)
		if u.server == nil || where == nil || u.custom() {
			return
		}
		names, ok := dnsNames(p, at, u.common)
		if !ok || len(names) == 0 {
			return // of a mesh, which has identities instead
		}
		for i, name := range chain.GetFilterChainMatch().GetServerNames() {
			if name = strings.ToLower(name); slices.ContainsFunc(names, func(san string) bool { return serves(san, name) }) {
				continue
			}
			p.Report(where.At().Field("filter_chain_match").Item("server_names", i), lint.Diagnostic{
				Message: fmt.Sprintf("no certificate of this filter chain is for %s", name),
				Notes:   []string{"Envoy presents the certificate for " + strings.Join(names, ", ") + " to these clients, and those that verify it close the connection"},
				Help:    "add a certificate for this name, or correct the name",
				Related: []lint.Related{lint.RelatedTo(at.Field("tls_certificates").Key(), "these are the certificates")},
			})
		}
	}),
})

// dnsNames returns the DNS names in the certificates of a context. ok is false if not all of the certificates are known.
func dnsNames(p *lint.Pass, at lint.At, c *tlsv3.CommonTlsContext) (names []string, ok bool) {
	if len(c.GetTlsCertificateSdsSecretConfigs()) > 0 || c.GetCustomTlsCertificateSelector() != nil {
		return nil, false
	}
	for _, certificate := range c.GetTlsCertificates() {
		var leaf *boringssl.Certificate
		if leaf = leafOf(p, at, certificate); leaf == nil {
			return nil, false
		}
		for _, name := range leaf.DNSNames {
			names = append(names, strings.ToLower(name))
		}
	}
	return names, true
}

// serves reports whether a name in a certificate can be for clients that ask for a server name, which can begin with a wildcard.
func serves(san, name string) bool {
	suffix, isWildcard := strings.CutPrefix(name, "*")
	if isWildcard && strings.HasSuffix(san, suffix) || san == name {
		return true
	}
	domain, ok := strings.CutPrefix(san, "*.")
	_, parent, below := strings.Cut(name, ".")
	return ok && below && parent == domain
}
