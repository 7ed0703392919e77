package hardening

import (
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "require-tls-plain",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "a virtual host requires TLS on a listener without TLS, and a client can claim it",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#enum-config-route-v3-virtualhost-tlsrequirementtype",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/headers#x-forwarded-proto",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Host == nil || l.Route != nil || l.Host.GetRequireTls() == routev3.VirtualHost_NONE {
				return
			}
			if slices.ContainsFunc(users, believesScheme) {
				p.Report(l.At.Field("require_tls"), lint.Diagnostic{
					Message: "a client that sends x-forwarded-proto: https is served without TLS",
					Notes:   []string{"the connection is not encrypted, and without use_remote_address Envoy believes the header of the client"},
					Help:    "set use_remote_address: true in the HTTP connection manager",
				})
			}
		})
	}),
})

// believesScheme reports whether clients connect without TLS, and state themselves that they use it.
func believesScheme(m managers.Manager) bool {
	chain, _ := graph.Around[*listenerv3.FilterChain](m.At.Place)
	return takesClients(m.At) && chain.GetTransportSocket() == nil && !m.Message.GetUseRemoteAddress().GetValue() &&
		m.Message.GetSchemeHeaderTransformation() == nil && len(m.Message.GetEarlyHeaderMutationExtensions()) == 0
}
