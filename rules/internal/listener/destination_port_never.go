package listener

import (
	"fmt"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "destination-port-never",
	Severity: lint.Warning,
	Summary:  "a filter chain matches a destination port that no connection of the listener has",
	Links: []string{
		"FilterChainManagerImpl::findFilterChain (source/common/listener_manager/filter_chain_manager_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/listener/v3/listener_components.proto#config-listener-v3-filterchainmatch",
	},
	Run: eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		ports, known := boundPorts(at, l)
		if !known || l.GetFilterChainMatcher() != nil {
			return
		}
		for i, c := range l.GetFilterChains() {
			port := c.GetFilterChainMatch().GetDestinationPort()
			if port == nil || port.GetValue() == 0 || slices.Contains(ports, port.GetValue()) {
				continue
			}
			own := at.Item("filter_chains", i).Field("filter_chain_match", "destination_port")
			d := lint.Diagnostic{
				Message: fmt.Sprintf("no connection has the destination port %d: the listener is on port %d", port.GetValue(), ports[0]),
				Notes:   []string{"the destination port is that of the listener, unless original_dst or proxy_protocol finds another one"},
				Help:    "remove destination_port, or add the listener filter that knows the original port",
			}
			if len(ports) == 1 {
				d.Fixes = lint.Remove(own).Likely("remove destination_port")
			}
			p.Report(own, d)
		}
	}),
})

// boundPorts returns the ports of a listener's sockets. known is false if connections can have other destinations: by a listener filter, a socket option
// or a listener that hands them over.
func boundPorts(at lint.At, l *listenerv3.Listener) (ports []uint32, known bool) {
	filters := envoy.ListenerFiltersOf(at, l)
	if l.GetInternalListener() != nil || !envoy.Binds(l) || l.GetTransparent().GetValue() || !filters.Lack(envoy.OriginalDst, envoy.ProxyProtocol) {
		return nil, false
	}
	for _, a := range addresses(at, l) {
		s := a.GetSocketAddress()
		if _, numbered := s.GetPortSpecifier().(*corev3.SocketAddress_PortValue); !numbered || s.GetPortValue() == 0 {
			return nil, false
		}
		ports = append(ports, s.GetPortValue())
	}
	return ports, len(ports) > 0 && len(l.GetSocketOptions()) == 0
}
