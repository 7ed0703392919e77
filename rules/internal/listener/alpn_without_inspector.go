package listener

import (
	"fmt"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "alpn-without-inspector",
	Severity: lint.Warning,
	Summary:  "filter chains match by application protocol, and no listener filter detects it",
	Links: []string{
		"FilterChainManagerImpl::findFilterChainForApplicationProtocols (source/common/listener_manager/filter_chain_manager_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/listener_filters/http_inspector",
	},
	Run: eachInspected(func(p *lint.Pass, at lint.At, l *listenerv3.Listener, filters envoy.ListenerFilters) {
		if !filters.Lack(envoy.TLSInspector) {
			return
		}
		plain := !filters.Lack(envoy.HTTPInspector)
		own, n := matching(at, l, func(own lint.At, m *listenerv3.FilterChainMatch) (lint.At, bool) {
			detected := func(protocol string) bool { return plain && slices.Contains(plainProtocols, protocol) }
			asks := len(m.GetApplicationProtocols()) > 0 && len(m.GetServerNames()) == 0 && m.GetTransportProtocol() != "tls" // sni-without-tls-inspector
			return own.Field("application_protocols"), asks && !slices.ContainsFunc(m.GetApplicationProtocols(), detected)
		})
		if n == 0 {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("no connection matches: no listener filter detects its application protocol%s", others(n)),
			Notes:   []string{"tls_inspector detects the protocols that a TLS client offers, http_inspector those of plain text: http/1.0, http/1.1 and h2c"},
			Help:    "add the listener filter envoy.filters.listener.tls_inspector, or http_inspector for plain text",
		}
		if !slices.ContainsFunc(l.GetFilterChains(), plainText) {
			d.Fixes = inspectTLS(at)
		}
		if plain {
			d.Message = fmt.Sprintf("no connection matches: http_inspector does not detect any of these protocols%s", others(n))
			d.Help = "add the listener filter envoy.filters.listener.tls_inspector, or write http/1.1 or h2c"
		}
		p.Report(own, d)
	}),
})

// plainProtocols are those that http_inspector detects (source/extensions/filters/listener/http_inspector/http_inspector.cc).
var plainProtocols = []string{"http/1.0", "http/1.1", "h2c"}

// plainText reports whether the connections of a filter chain are not encrypted.
func plainText(c *listenerv3.FilterChain) bool { return c.GetTransportSocket() == nil }
