package http

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-authenticated-any",
	Severity: lint.Warning,
	Summary:  "an RBAC principal is any authenticated client, but clients need no certificate",
	Links: []string{
		"AuthenticatedMatcher::matches (source/extensions/filters/common/rbac/matchers.cc)",
		"https://github.com/envoyproxy/envoy/issues/20647",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *rbacv3.Principal) {
		if m.GetAuthenticated() == nil || m.GetAuthenticated().GetPrincipalName() != nil {
			return
		}
		chain, place := graph.Around[*listenerv3.FilterChain](at.Place)
		if place == nil {
			return
		}
		config, _ := envoy.Content(place.At(), chain.GetTransportSocket().GetTypedConfig())
		tls, ok := config.(*tlsv3.DownstreamTlsContext)
		if !ok || tls.GetRequireClientCertificate().GetValue() {
			return
		}
		p.Report(at.Field("authenticated"), lint.Diagnostic{
			Message: "every client with a TLS connection is this principal",
			Notes:   []string{"without principal_name, Envoy only asks whether the connection uses TLS, and this filter chain does not require a client certificate"},
			Help:    "add principal_name, or require_client_certificate: true to the DownstreamTlsContext",
			Related: []lint.Related{lint.RelatedTo(place.At().Field("transport_socket"), "this transport socket requires no client certificate")},
		})
	}),
})
