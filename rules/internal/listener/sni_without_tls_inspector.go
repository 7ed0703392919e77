package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "sni-without-tls-inspector",
	Severity: lint.Warning,
	Summary:  "filter chains match by SNI or TLS, and no listener filter detects them",
	Links: []string{
		"ActiveTcpSocket::newConnection (source/common/listener_manager/active_tcp_socket.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/listener_filters/tls_inspector",
		"https://github.com/envoyproxy/envoy/issues/30955",
	},
	Run: eachInspected(func(p *lint.Pass, at lint.At, l *listenerv3.Listener, filters envoy.ListenerFilters) {
		if !filters.Lack(envoy.TLSInspector) {
			return
		}
		own, n := matching(at, l, func(own lint.At, m *listenerv3.FilterChainMatch) (lint.At, bool) {
			if m.GetTransportProtocol() == "tls" {
				return own.Field("transport_protocol"), true
			}
			return own.Field("server_names"), len(m.GetServerNames()) > 0
		})
		if n == 0 {
			return
		}
		p.Report(own, lint.Diagnostic{
			Message: fmt.Sprintf("no connection matches: the listener has no tls_inspector%s", others(n)),
			Notes:   []string{"without it, the server name of every connection is empty, and its transport protocol is raw_buffer"},
			Help:    "add the listener filter envoy.filters.listener.tls_inspector",
			Fixes:   inspectTLS(at),
		})
	}),
})

// eachInspected calls f for the listeners whose filter chains are selected by what the listener filters detect.
func eachInspected(f func(p *lint.Pass, at lint.At, l *listenerv3.Listener, filters envoy.ListenerFilters)) lint.Check {
	return eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if l.GetInternalListener() == nil && !overUDP(l) && l.GetFilterChainMatcher() == nil {
			f(p, at, l, envoy.ListenerFiltersOf(at, l))
		}
	})
}

// inspectTLS adds a tls_inspector to a listener without listener filters. It is not a safe fix: connections that another filter chain takes today, or
// that none takes, go to the chains that match.
func inspectTLS(at lint.At) []lint.Fix {
	return lint.Insert(at, "listener_filters", lint.List{lint.Fields{
		{Name: "name", Value: "envoy.filters.listener.tls_inspector"},
		{Name: "typed_config", Value: lint.Fields{{Name: "@type", Value: "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"}}},
	}}).Likely("add the tls_inspector")
}

// matching counts the filter chains of a listener with a field in their match, and returns the first place.
func matching(at lint.At, l *listenerv3.Listener, field func(own lint.At, m *listenerv3.FilterChainMatch) (lint.At, bool)) (first lint.At, n int) {
	for i, c := range l.GetFilterChains() {
		own, has := field(at.Item("filter_chains", i).Field("filter_chain_match"), c.GetFilterChainMatch())
		if !has {
			continue
		}
		if n == 0 {
			first = own
		}
		n++
	}
	return first, n
}

// others says how many more filter chains a finding is about.
func others(n int) string {
	switch n {
	case 1:
		return ""
	case 2:
		return "; the same is true of another filter chain"
	}
	return fmt.Sprintf("; the same is true of %d other filter chains", n-1)
}
