package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-catch-all-chain",
	Severity: lint.Info,
	Summary:  "every filter chain asks for a server name, and clients that send none are disconnected",
	Links: []string{
		"ActiveStreamListenerBase::newConnection (source/common/listener_manager/active_stream_listener_base.cc)",
		"https://github.com/envoyproxy/envoy/issues/4775",
	},
	Run: eachInspected(func(p *lint.Pass, at lint.At, l *listenerv3.Listener, filters envoy.ListenerFilters) {
		if l.GetDefaultFilterChain() != nil || filters.Lack(envoy.TLSInspector) {
			return
		}
		own, n := matching(at, l, func(own lint.At, m *listenerv3.FilterChainMatch) (lint.At, bool) {
			return own.Field("server_names"), len(m.GetServerNames()) > 0
		})
		if n == 0 || n < len(l.GetFilterChains()) {
			return
		}
		p.Report(own, lint.Diagnostic{
			Message: "clients without a server name, or with another one, are disconnected",
			Notes:   []string{"Envoy closes the connection before the TLS handshake, so that clients get no TLS alert; it counts no_filter_chain_match"},
			Help:    "add a default_filter_chain, if such clients shall get an answer",
		})
	}),
})
