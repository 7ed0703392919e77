package listener

import (
	"fmt"
	"net/netip"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "match-dead-end",
	Severity: lint.Warning,
	Summary:  "no connection reaches a filter chain, because others are more specific in a criterion that Envoy compares earlier",
	Links: []string{
		"FilterChainManagerImpl::findFilterChain (source/common/listener_manager/filter_chain_manager_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/listener/v3/listener_components.proto#config-listener-v3-filterchainmatch",
		"https://github.com/envoyproxy/envoy/issues/12572",
	},
	Run: eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if takesAll(l) {
			return
		}
		all := match.NewChains(l)
		if all == nil {
			return
		}
		to := destinations(at, l)
		for i, c := range l.GetFilterChains() {
			port := c.GetFilterChainMatch().GetDestinationPort().GetValue()
			if port != 0 && len(to) > 0 && !slices.ContainsFunc(to, func(a netip.AddrPort) bool { return uint32(a.Port()) == port }) {
				continue // destination-port-never
			}
			if instead, never := all.Unreachable(c, to...); never {
				reportDeadEnd(p, at, l, i, instead)
			}
		}
	}),
})

// destinations returns the destinations of all connections of a listener, or nothing if they are not known. That of a listener on all addresses has only
// a port.
func destinations(at lint.At, l *listenerv3.Listener) (all []netip.AddrPort) {
	if _, known := boundPorts(at, l); !known {
		return nil
	}
	for _, a := range addresses(at, l) {
		s := a.GetSocketAddress()
		address, err := netip.ParseAddr(s.GetAddress())
		if err != nil || address.IsUnspecified() {
			address = netip.Addr{}
		}
		all = append(all, netip.AddrPortFrom(address, uint16(s.GetPortValue()))) //nolint:gosec // a constraint of the API bounds it
	}
	return all
}

func reportDeadEnd(p *lint.Pass, at lint.At, l *listenerv3.Listener, i int, instead *listenerv3.FilterChain) {
	d := lint.Diagnostic{
		Message: "no connection reaches this filter chain: its prefix_ranges do not have the address of the listener",
		Help:    "remove prefix_ranges, or write a range that has the address",
	}
	if other := slices.Index(l.GetFilterChains(), instead); other >= 0 {
		d = lint.Diagnostic{
			Message: fmt.Sprintf("no connection reaches this filter chain: Envoy looks only at %s and those like it", called(instead, other)),
			Notes: []string{"Envoy compares the port, the address, the server name, the transport, the protocols and the source, in this order; " +
				"each time, it keeps only the chains with the most specific value, and does not come back to the others"},
			Help:    "write the same destination_port, prefix_ranges, … in all chains that the same connections shall choose from",
			Related: []lint.Related{lint.RelatedTo(place(at.Item("filter_chains", other), instead), "this filter chain is more specific")},
		}
	}
	p.Report(place(at.Item("filter_chains", i), l.GetFilterChains()[i]), d)
}
