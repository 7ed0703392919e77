package hardening

import (
	"fmt"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	dfpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/dynamic_forward_proxy/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "open-proxy",
	Severity: lint.Info,
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning},
	Summary:  "any client can make Envoy connect to any address",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/dynamic_forward_proxy_filter",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_proxy",
	},
	Run: eachRouted(func(p *lint.Pass, m managers.Manager) {
		filter := forwardFilter(m)
		if filter == nil || restricted(m) {
			return
		}
		for l := range m.Routes.Levels {
			if l.Cluster != nil || !forwards(l, *filter) {
				continue
			}
			p.Report(filter.At, lint.Diagnostic{
				Message: fmt.Sprintf("a request goes to the host that its client names, and virtual host %q takes all hosts", l.Host.GetName()),
				Notes:   []string{"a client that reaches this listener reaches whatever this machine reaches: other services, the admin interface, the metadata of a cloud"},
				Help:    "list the hosts in domains, or add a filter that authorizes clients",
				Related: []lint.Related{lint.RelatedTo(l.At, "this route takes any host")},
			})
			return
		}
	}),
})

// forwardFilter returns the filter of a connection manager that connects to the hosts that clients name, if nothing in the chain may reject clients.
func forwardFilter(m managers.Manager) *envoy.HTTPFilter {
	const kind = "dynamic_forward_proxy"
	if slices.ContainsFunc(m.Filters, func(f envoy.HTTPFilter) bool { return f.Kind != kind && !f.Passive() }) {
		return nil
	}
	i := slices.IndexFunc(m.Filters, func(f envoy.HTTPFilter) bool { return f.Kind == kind })
	if i < 0 {
		return nil
	}
	return &m.Filters[i]
}

// restricted reports whether something before a connection manager may reject clients: another filter, a certificate, or a match of addresses.
func restricted(m managers.Manager) bool {
	chain, _ := graph.Around[*listenerv3.FilterChain](m.At.Place)
	l, _ := graph.Around[*listenerv3.Listener](m.At.Place)
	match := chain.GetFilterChainMatch()
	return len(chain.GetFilters()) > 1 || chain.GetTransportSocket() != nil || l.GetFilterChainMatcher() != nil ||
		len(match.GetSourcePrefixRanges())+len(match.GetDirectSourcePrefixRanges()) > 0
}

// forwards reports whether a route takes requests for any host, and lets the filter connect to it.
func forwards(l *envoy.RouteLevel, filter envoy.HTTPFilter) bool {
	if l.Route.GetRoute() == nil || len(l.Route.GetMatch().GetHeaders()) > 0 || !slices.Contains(l.Host.GetDomains(), "*") {
		return false
	}
	state := l.Filter(filter.Message.GetName(), filter.Message.GetDisabled())
	own, replaced := state.Config.(*dfpv3.PerRouteConfig)
	return !state.Off && (!replaced || own.GetHostRewriteSpecifier() == nil)
}
