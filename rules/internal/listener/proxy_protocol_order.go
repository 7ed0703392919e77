package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "proxy-protocol-order",
	Severity: lint.Warning,
	Summary:  "an inspector reads a connection before the listener filter that removes the header of the PROXY protocol",
	Links: []string{
		"ListenerImpl::buildProxyProtocolListenerFilter (source/common/listener_manager/listener_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/listener_filters/proxy_protocol",
	},
	Run: eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		filters := envoy.ListenerFiltersOf(at, l)
		proxy := filters.Index(envoy.ProxyProtocol)
		for _, kind := range []string{envoy.TLSInspector, envoy.HTTPInspector} {
			i := filters.Index(kind)
			if i < 0 || proxy < i || overUDP(l) {
				continue
			}
			d := lint.Diagnostic{
				Message: fmt.Sprintf("%s reads the header of the PROXY protocol, and detects nothing", kind),
				Notes:   []string{"listener filters run in their order, and only proxy_protocol removes the header"},
				Help:    "write proxy_protocol before the inspectors",
				Related: []lint.Related{lint.RelatedTo(filters[proxy].At, "the header is removed here")},
				Fixes:   lint.Swap(filters[i].At, filters[proxy].At).Likely("exchange the two filters"),
			}
			if proxy >= len(l.GetListenerFilters()) {
				d.Help, d.Fixes = "remove use_proxy_proto, and write the listener filter proxy_protocol before the inspectors", nil
			}
			p.Report(filters[i].At, d)
			return
		}
	}),
})
