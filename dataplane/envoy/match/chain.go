package match

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Chain describes the connections that a filter chain takes, in the form of FilterChainManagerImpl::setupFilterChainMatcher
// (source/common/listener_manager/filter_chain_manager_impl.cc): for each level of Envoy's tree a set of values, of which one must fit.
type Chain struct {
	values [levels][]value
	vague  bool // Envoy rejects an address of it
}

type level int

// The levels of Envoy's tree, from the root.
const (
	destinationPort level = iota
	destination
	serverName
	transport
	protocol
	directSource
	sourceType
	sourceAddress
	sourcePort
	levels
)

// value is a key of a level. The zero value fits everything. The key of a wildcard name does not have the star.
type value struct {
	text    string
	network netip.Prefix
}

// anyAddress reports whether a value is the range of all addresses of a family.
func (v value) anyAddress() bool { return v.network.IsValid() && v.network.Bits() == 0 }

func (l level) hasAddresses() bool {
	return l == destination || l == directSource || l == sourceAddress
}

// NewChain returns the Chain of a match. A nil match takes every connection.
func NewChain(m *listenerv3.FilterChainMatch) *Chain {
	c := &Chain{}
	if p := m.GetDestinationPort(); p.GetValue() != 0 {
		c.values[destinationPort] = []value{number(p.GetValue())}
	}
	c.networks(destination, m.GetPrefixRanges())
	for _, name := range m.GetServerNames() {
		if name = ascii.Lower(name); strings.HasPrefix(name, "*.") {
			name = name[1:]
		}
		c.add(serverName, value{text: name})
	}
	c.add(transport, value{text: m.GetTransportProtocol()})
	for _, p := range m.GetApplicationProtocols() {
		c.add(protocol, value{text: p})
	}
	c.networks(directSource, m.GetDirectSourcePrefixRanges())
	if t := m.GetSourceType(); t != listenerv3.FilterChainMatch_ANY {
		c.add(sourceType, value{text: t.String()})
	}
	c.networks(sourceAddress, m.GetSourcePrefixRanges())
	for _, p := range m.GetSourcePorts() {
		c.add(sourcePort, number(p))
	}
	for l := range c.values {
		if len(c.values[l]) == 0 {
			c.values[l] = []value{{}}
		}
	}
	return c
}

func (c *Chain) add(l level, v value) { c.values[l] = append(c.values[l], v) }

func number(n uint32) value { return value{text: strconv.FormatUint(uint64(n), 10)} }

// networks adds each range without its host bits (CidrRange::create). A length that is not set is 0.
func (c *Chain) networks(l level, ranges []*corev3.CidrRange) {
	for _, r := range ranges {
		address, err := netip.ParseAddr(r.GetAddressPrefix())
		if err != nil || address.Zone() != "" {
			c.vague = true
			continue
		}
		network, err := address.Prefix(min(int(r.GetPrefixLen().GetValue()), address.BitLen()))
		c.vague = c.vague || err != nil
		c.add(l, value{network: network})
	}
}

// Valid reports whether all addresses of the match are valid.
func (c *Chain) Valid() bool { return !c.vague }

// Repeats reports whether a list of the match has a value twice. Envoy rejects that as two chains that clash.
func (c *Chain) Repeats() bool {
	return slices.ContainsFunc(c.values[:], func(values []value) bool {
		seen := make(map[value]bool, len(values))
		for _, v := range values {
			if seen[v] {
				return true
			}
			seen[v] = true
		}
		return false
	})
}

// Clashes reports whether both chains have the same place in the tree, which Envoy rejects (addFilterChainForSourcePorts).
func (c *Chain) Clashes(o *Chain) bool {
	for l := range c.values {
		if !slices.ContainsFunc(c.values[l], func(v value) bool { return slices.Contains(o.values[l], v) }) {
			return false
		}
	}
	return true
}

// Branches returns a text for each port and server name. Chains that clash have at least one in common, so only those need to be compared.
func (c *Chain) Branches() (all []string) {
	for _, name := range c.values[serverName] {
		all = append(all, c.values[destinationPort][0].text+" "+name.text)
	}
	return all
}

// Covers reports whether each connection that fits another chain fits this one.
func (c *Chain) Covers(o *Chain) bool {
	if c.vague || o.vague {
		return false
	}
	for l := range c.values {
		for _, inner := range o.values[l] {
			if !slices.ContainsFunc(c.values[l], func(outer value) bool { return level(l).covers(outer, inner) }) {
				return false
			}
		}
	}
	return true
}

// Meets reports whether a connection can fit both chains. Chains determines which of them takes it.
func (c *Chain) Meets(o *Chain) Overlap {
	result := Yes
	for l := range c.values {
		found := No
		for _, v := range c.values[l] {
			for _, w := range o.values[l] {
				found = either(found, level(l).meets(v, w))
			}
		}
		result = both(result, found)
	}
	if c.vague || o.vague || c.entangled() || o.entangled() {
		result = both(result, Perhaps)
	}
	return result
}

// SharesProtocol reports whether a client that offers at most one application protocol can fit both chains. A client that offers several protocols fits
// the chains of each, and the client's order decides.
func (c *Chain) SharesProtocol(o *Chain) bool {
	return slices.ContainsFunc(c.values[protocol], func(v value) bool {
		return v == value{} || slices.Contains(o.values[protocol], v) || slices.Contains(o.values[protocol], value{})
	})
}

// entangled reports whether two conditions of a chain depend on each other.
func (c *Chain) entangled() bool {
	asks := func(l level) bool { return c.values[l][0] != value{} }
	return asks(sourceType) || asks(directSource) || asks(serverName) && asks(transport) || asks(protocol) && asks(transport)
}

// covers reports whether a connection that fits one value fits another one too.
func (l level) covers(outer, inner value) bool {
	switch {
	case outer == value{} || outer == inner:
		return true
	case inner == value{}:
		return false
	case l == serverName:
		return strings.HasPrefix(outer.text, ".") && len(inner.text) > len(outer.text) && strings.HasSuffix(inner.text, outer.text)
	}
	return outer.network.IsValid() && outer.network.Bits() <= inner.network.Bits() && outer.network.Contains(inner.network.Addr())
}

// meets: a client can offer several protocols.
func (l level) meets(a, b value) Overlap {
	if l == protocol {
		return Yes
	}
	return certain(l.covers(a, b) || l.covers(b, a))
}
