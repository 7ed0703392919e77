package route

import (
	"fmt"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "https-redirect-port",
	Severity: lint.Info,
	Summary:  "a redirect to https keeps the port of the plain listener",
	Links: []string{
		"Utility::newUri, processRequestHost (source/common/http/utility.cc)",
		"https://github.com/envoyproxy/envoy/issues/4832",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			r := l.Route.GetRedirect()
			if r == nil || l.Cluster != nil || !toHTTPS(r) || r.GetHostRedirect() != "" || r.GetPortRedirect() != 0 {
				return
			}
			i := slices.IndexFunc(users, func(m managers.Manager) bool { return keptPort(m) != 0 })
			if i < 0 {
				return
			}
			port := keptPort(users[i])
			own := l.At.Field("redirect")
			p.Report(own, lint.Diagnostic{
				Message: fmt.Sprintf("clients that come to port %d are redirected to https on the same port", port),
				Notes:   []string{"Envoy keeps the port of the Host header, unless it is 80"},
				Help:    "add port_redirect: 443, unless clients come to port 80 and something maps it to this one",
				Fixes:   lint.Insert(own, "port_redirect", 443).Likely("add port_redirect: 443"),
			})
		})
	}),
})

// keptPort returns the port of a plain listener which clients name in the Host header, or 0 if there is none.
func keptPort(m managers.Manager) uint32 {
	if m.Message.GetStripAnyHostPort() || m.Message.GetStripMatchingHostPort() || secure(m) {
		return 0
	}
	if port := portOf(m); port != 80 {
		return port
	}
	return 0
}

// portOf returns the port to which a listener binds its only socket, or 0 if that may not be where clients connect to.
func portOf(m managers.Manager) uint32 {
	l, _ := graph.Around[*listenerv3.Listener](m.At.Place)
	if !envoy.Binds(l) || l.GetUseOriginalDst().GetValue() || len(l.GetAdditionalAddresses()) > 0 {
		return 0
	}
	return l.GetAddress().GetSocketAddress().GetPortValue()
}

// secure reports whether the connections of a manager may be encrypted.
func secure(m managers.Manager) bool {
	chain, _ := graph.Around[*listenerv3.FilterChain](m.At.Place)
	return chain.GetTransportSocket() != nil
}
