package traffic

import (
	"net/netip"
	"slices"
	"strconv"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
)

// connectionsMeet tells whether connections that come to the filter chain around a reference can come to some chain of another listener.
func connectionsMeet(e *graph.Edge, other *graph.Resource) bool {
	chain, ok := enclosing[*listenerv3.FilterChain](e.Place, "envoy.config.listener.v3.FilterChain")
	own, isListener := e.From.Message.(*listenerv3.Listener)
	l, isListenerToo := other.Message.(*listenerv3.Listener)
	if !ok || !isListener || !isListenerToo || own.GetFilterChainMatcher() != nil || l.GetFilterChainMatcher() != nil || l.GetDefaultFilterChain() != nil {
		return true
	}
	match := chain.GetFilterChainMatch()
	if chain == own.GetDefaultFilterChain() {
		match = nil // Envoy does not look at it
	}
	return slices.ContainsFunc(l.GetFilterChains(), func(there *listenerv3.FilterChain) bool {
		return matchesMeet(match, there.GetFilterChainMatch()) && !goElsewhere(there.GetFilterChainMatch(), own, chain)
	})
}

// goElsewhere tells whether the connections that fit a match go past a chain of a listener, to one that is more specific.
func goElsewhere(match *listenerv3.FilterChainMatch, l *listenerv3.Listener, chain *listenerv3.FilterChain) bool {
	isDefault := chain == l.GetDefaultFilterChain()
	return slices.ContainsFunc(l.GetFilterChains(), func(c *listenerv3.FilterChain) bool {
		m, than := c.GetFilterChainMatch(), chain.GetFilterChainMatch()
		return matchWithin(match, m) && (isDefault || matchWithin(m, than) && !matchWithin(than, m))
	})
}

// criterion is something that filter chains match by: any of some values will do, and all where there are none.
type criterion struct {
	values func(*listenerv3.FilterChainMatch) []string
	within func(inner, outer string) bool
}

var criteria = []criterion{
	{func(m *listenerv3.FilterChainMatch) []string {
		if m.GetDestinationPort() == nil {
			return nil
		}
		return []string{strconv.Itoa(int(m.GetDestinationPort().GetValue()))}
	}, same},
	{func(m *listenerv3.FilterChainMatch) []string { return ranges(m.GetPrefixRanges()) }, rangeWithin},
	{func(m *listenerv3.FilterChainMatch) []string { return lowered(m.GetServerNames()) }, domainWithin},
	{func(m *listenerv3.FilterChainMatch) []string { return given(m.GetTransportProtocol()) }, same},
	{(*listenerv3.FilterChainMatch).GetApplicationProtocols, same},
	{func(m *listenerv3.FilterChainMatch) []string { return ranges(m.GetDirectSourcePrefixRanges()) }, rangeWithin},
	{func(m *listenerv3.FilterChainMatch) []string {
		if m.GetSourceType() == listenerv3.FilterChainMatch_ANY {
			return nil
		}
		return []string{m.GetSourceType().String()}
	}, same},
	{func(m *listenerv3.FilterChainMatch) []string { return ranges(m.GetSourcePrefixRanges()) }, rangeWithin},
	{func(m *listenerv3.FilterChainMatch) (ports []string) {
		for _, port := range m.GetSourcePorts() {
			ports = append(ports, strconv.Itoa(int(port)))
		}
		return ports
	}, same},
}

// matchesMeet tells whether some connection fits both.
func matchesMeet(a, b *listenerv3.FilterChainMatch) bool {
	return !slices.ContainsFunc(criteria, func(c criterion) bool {
		xs, ys := c.values(a), c.values(b)
		return len(xs) > 0 && len(ys) > 0 && !slices.ContainsFunc(xs, func(x string) bool {
			return slices.ContainsFunc(ys, func(y string) bool { return c.within(x, y) || c.within(y, x) })
		})
	})
}

// matchWithin tells whether all connections that fit one also fit the other.
func matchWithin(inner, outer *listenerv3.FilterChainMatch) bool {
	return !slices.ContainsFunc(criteria, func(c criterion) bool {
		xs, ys := c.values(inner), c.values(outer)
		outside := func(x string) bool {
			return !slices.ContainsFunc(ys, func(y string) bool { return c.within(x, y) })
		}
		return len(ys) > 0 && (len(xs) == 0 || slices.ContainsFunc(xs, outside))
	})
}

func same(a, b string) bool { return a == b }

func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func lowered(names []string) (all []string) {
	for _, name := range names {
		all = append(all, ascii.Lower(name))
	}
	return all
}

func ranges(list []*corev3.CidrRange) (all []string) {
	for _, r := range list {
		all = append(all, r.GetAddressPrefix()+"/"+strconv.Itoa(int(r.GetPrefixLen().GetValue())))
	}
	return all
}

// rangeWithin tells whether one range of addresses lies in another one.
func rangeWithin(inner, outer string) bool {
	a, err := netip.ParsePrefix(inner)
	b, err2 := netip.ParsePrefix(outer)
	if err != nil || err2 != nil {
		return inner == outer
	}
	return b.Bits() <= a.Bits() && b.Contains(a.Addr())
}
