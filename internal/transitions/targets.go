package transitions

import (
	"cmp"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// ask is a kind of request that clients repeat.
type ask struct {
	host, path  string
	header, key string // the scope, where routes have scopes
	any         bool   // the virtual host answers all hosts
}

// target is where a client sends its requests.
type target struct {
	addrs []string // tried in turn
	tls   bool
	sni   string
	asks  []ask
}

// door is one filter chain of a listener.
type door struct {
	listener, addr, sni string
	tls                 bool
	asks                []ask
}

// targets returns the doors of the old snapshot, with the requests that the new one answers too. Clients that follow know both addresses of a listener
// that moves.
func targets(before, after *half, follow bool) []*target {
	var all []*target
	newDoors := after.doors()
	for _, d := range before.doors() {
		same := func(n door) bool { return n.addr == d.addr && n.sni == d.sni }
		i := slices.IndexFunc(newDoors, same)
		if i < 0 {
			i = slices.IndexFunc(newDoors, func(n door) bool { return n.listener == d.listener && n.sni == d.sni })
		}
		t := &target{addrs: []string{d.addr}, tls: d.tls, sni: d.sni, asks: d.asks}
		switch {
		case i >= 0:
			if n := newDoors[i]; n.addr != d.addr && follow {
				t.addrs = []string{n.addr, d.addr, n.addr} // it may move between the first two
			}
			if kept := answered(d.asks, newDoors[i].asks); len(kept) > 0 {
				t.asks = kept
			}
		case len(newDoors) > 0:
			continue // the listener goes, and is meant to
		}
		if len(t.asks) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// answered returns those of asks that the other side answers too.
func answered(asks, others []ask) []ask {
	var kept []ask
	for _, a := range asks {
		if slices.ContainsFunc(others, func(o ask) bool {
			return (o.any || o.host == a.host) && strings.HasPrefix(a.path, o.path) && o.key == a.key
		}) {
			kept = append(kept, a)
		}
	}
	return kept
}

// doors lists the filter chains that take TCP connections.
func (h *half) doors() []door {
	var all []door
	for _, m := range h.messages {
		each(m, func(l *listenerv3.Listener) {
			socket := l.GetAddress().GetSocketAddress()
			if socket == nil || l.GetApiListener() != nil || l.GetUdpListenerConfig() != nil {
				return
			}
			chains := l.GetFilterChains()
			if c := l.GetDefaultFilterChain(); c != nil {
				chains = append(chains, c)
			}
			for _, c := range chains {
				d := door{listener: l.GetName(), addr: addressKey(socket), asks: h.asks(c)}
				each(c, func(*tlsv3.DownstreamTlsContext) { d.tls = true })
				if names := c.GetFilterChainMatch().GetServerNames(); len(names) > 0 {
					d.sni = hostOf(names[0])
				}
				all = append(all, d)
			}
		})
	}
	slices.SortStableFunc(all, func(a, b door) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.sni, b.sni)) })
	return all
}

// asks returns a request for each route of a filter chain. A chain without routes gets a plain request, which it passes on unchanged.
func (h *half) asks(c *listenerv3.FilterChain) []ask {
	var all []ask
	http := false
	each(c, func(m *hcmv3.HttpConnectionManager) {
		http = true
		switch {
		case m.GetRouteConfig() != nil:
			all = append(all, h.routes(m.GetRouteConfig())...)
		case m.GetRds() != nil:
			all = append(all, h.named(m.GetRds().GetRouteConfigName())...)
		case m.GetScopedRoutes() != nil:
			all = append(all, h.scopes(m.GetScopedRoutes())...)
		}
	})
	if !http {
		all = []ask{{host: "any.example", path: "/", any: true}}
	}
	return all
}

func (h *half) named(routes string) []ask {
	var all []ask
	for _, m := range h.messages {
		if r, ok := m.(*routev3.RouteConfiguration); ok && r.GetName() == routes {
			all = append(all, h.routes(r)...)
		}
	}
	return all
}

// scopes are distinguished by a header, with one fragment per key.
func (h *half) scopes(s *hcmv3.ScopedRoutes) []ask {
	var all []ask
	fragments := s.GetScopeKeyBuilder().GetFragments()
	if len(fragments) != 1 {
		return nil
	}
	add := func(scope *routev3.ScopedRouteConfiguration) {
		asks := h.named(scope.GetRouteConfigurationName())
		if scope.GetRouteConfiguration() != nil {
			asks = h.routes(scope.GetRouteConfiguration())
		}
		for _, a := range asks {
			a.header = fragments[0].GetHeaderValueExtractor().GetName()
			a.key = scope.GetKey().GetFragments()[0].GetStringKey()
			all = append(all, a)
		}
	}
	for _, scope := range s.GetScopedRouteConfigurationsList().GetScopedRouteConfigurations() {
		add(scope)
	}
	if s.GetScopedRds() != nil {
		for _, m := range h.messages {
			if scope, ok := m.(*routev3.ScopedRouteConfiguration); ok {
				add(scope)
			}
		}
	}
	return all
}

func (h *half) routes(r *routev3.RouteConfiguration) []ask {
	hosts := r.GetVirtualHosts()
	if r.GetVhds() != nil {
		for _, m := range h.messages {
			if v, ok := m.(*routev3.VirtualHost); ok && (v.GetName() == r.GetName() || strings.HasPrefix(v.GetName(), r.GetName()+"/")) {
				hosts = append(slices.Clip(hosts), v)
			}
		}
	}
	var all []ask
	for _, v := range hosts {
		for _, route := range v.GetRoutes() {
			path, ok := pathOf(route.GetMatch())
			if !ok || len(v.GetDomains()) == 0 {
				continue
			}
			domain := v.GetDomains()[0]
			all = append(all, ask{host: hostOf(domain), path: path, any: domain == "*"})
		}
	}
	return all
}

// pathOf returns a path that a route matches, if the route matches only by path.
func pathOf(m *routev3.RouteMatch) (string, bool) {
	if len(m.GetHeaders()) > 0 || len(m.GetQueryParameters()) > 0 {
		return "", false
	}
	for _, path := range []string{m.GetPrefix(), m.GetPath(), m.GetPathSeparatedPrefix()} {
		if strings.HasPrefix(path, "/") {
			return path, true
		}
	}
	return "", false
}

// hostOf returns a host that matches a domain with a wildcard.
func hostOf(domain string) string {
	switch {
	case domain == "*":
		return "any.example"
	case strings.HasPrefix(domain, "*"):
		return "any" + domain[1:]
	case strings.HasSuffix(domain, "*"):
		return strings.TrimSuffix(domain, "*") + "example"
	}
	return domain
}
