package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "proxy-protocol-open",
	Severity: lint.Info,
	Summary:  "an RBAC policy trusts the client address of the PROXY protocol, which any client can write",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/listener_filters/proxy_protocol"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		filters := envoy.ListenerFiltersOf(at, l)
		i := filters.Index(envoy.ProxyProtocol)
		if at.Place.Parent != nil || i < 0 {
			return
		}
		claimed, checked := trustedAddresses(p, at.Resource())
		if checked {
			return
		}
		for _, own := range claimed {
			p.Report(own, lint.Diagnostic{
				Message: "this is the address that the client states in the PROXY protocol",
				Notes:   []string{"a client that reaches the listener without the proxy in front states any address"},
				Help:    "allow only the proxy to connect, by its direct_remote_ip or by a network policy in front of the listener",
				Related: []lint.Related{lint.RelatedTo(filters[i].At, "the PROXY protocol is read here")},
			})
		}
	}),
})

// trustedAddresses returns the conditions of a listener's RBAC policies on addresses that the PROXY protocol states. checked means that others
// look at the address that connects.
func trustedAddresses(p *lint.Pass, listener *graph.Resource) (claimed []lint.At, checked bool) {
	listener.Walk(func(place *graph.Place) {
		m, ok := graph.As[*rbacv3.Principal](place)
		if !ok || !envoy.OuterRead(p.Target.Extensions(), place) {
			return
		}
		switch m.GetIdentifier().(type) {
		case *rbacv3.Principal_RemoteIp:
			claimed = append(claimed, place.At().Field("remote_ip"))
		case *rbacv3.Principal_SourceIp:
			claimed = append(claimed, place.At().Field("source_ip"))
		case *rbacv3.Principal_DirectRemoteIp:
			checked = true
		}
	})
	return claimed, checked
}
