package match

import (
	"net/netip"
	"slices"
	"strconv"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Chains finds the filter chain of a listener that takes a connection (FilterChainManagerImpl::findFilterChain). At each level of the tree, Envoy
// follows only the most specific value. If it finds no chain below that value, the default chain takes the connection, even where another chain would
// match. A chain without a range of addresses and one with the range 0.0.0.0/0 or ::/0 are at the same place, and chance decides when Envoy starts.
type Chains struct {
	chains   []*Chain
	messages []*listenerv3.FilterChain
	index    map[*listenerv3.FilterChain]int
	fallback *listenerv3.FilterChain
	root     *node
	asked    [levels]bool // whether any chain has a value there
	spent    int          // on comparisons of addresses
}

// NewChains returns the Chains of a listener. It returns nil if the listener has a filter_chain_matcher, which is not modelled.
func NewChains(l *listenerv3.Listener) *Chains {
	if l.GetFilterChainMatcher() != nil {
		return nil
	}
	cs := &Chains{messages: l.GetFilterChains(), fallback: l.GetDefaultFilterChain(), index: map[*listenerv3.FilterChain]int{}, root: &node{}}
	for i, c := range cs.messages {
		cs.chains = append(cs.chains, NewChain(c.GetFilterChainMatch()))
		cs.index[c] = i
		cs.root.chains = append(cs.root.chains, i)
		for l := range levels {
			cs.asked[l] = cs.asked[l] || cs.chains[i].values[l][0] != (value{})
		}
	}
	return cs
}

// node is a place in Envoy's tree. It is divided when it is first visited: a listener can have thousands of chains.
type node struct {
	chains []int
	values []value
	below  map[value]*node
}

// divide groups the chains of a node by their values at a level.
func (cs *Chains) divide(n *node, l level) ([]value, map[value]*node) {
	if n.below != nil {
		return n.values, n.below
	}
	n.below = map[value]*node{}
	for _, i := range n.chains {
		for _, v := range cs.chains[i].values[l] {
			next := n.below[v]
			if next == nil {
				next = &node{}
				n.below[v] = next
				n.values = append(n.values, v)
			}
			next.chains = append(next.chains, i)
		}
	}
	return n.values, n.below
}

// Of returns the Chain of a filter chain. The default chain takes everything, since Envoy ignores its match.
func (cs *Chains) Of(chain *listenerv3.FilterChain) *Chain {
	if i, ok := cs.index[chain]; ok {
		return cs.chains[i]
	}
	return NewChain(nil)
}

// Connection has the properties by which Envoy chooses a filter chain, after the listener filters.
type Connection struct {
	Destination netip.AddrPort
	ServerName  string
	Transport   string   // "tls", "raw_buffer" or "quic"
	Protocols   []string // in the client's order
	Direct      netip.Addr
	Source      netip.AddrPort
}

// Take returns the filter chain that takes a connection, or nil if none does.
func (cs *Chains) Take(conn Connection) *listenerv3.FilterChain {
	at := cs.root
	for l := range levels {
		values, below := cs.divide(at, l)
		if at = below[l.best(values, below, conn)]; at == nil {
			return cs.fallback
		}
	}
	return cs.messages[at.chains[0]]
}

// best returns the most specific value that a connection fits. Texts are looked up, since a listener can have thousands of server names. If the
// connection fits none, the value is not one of those below.
func (l level) best(values []value, below map[value]*node, c Connection) (best value) {
	if texts := l.texts(c); texts != nil {
		for _, text := range texts {
			if v := (value{text: text}); text != "" && below[v] != nil {
				return v
			}
		}
		return value{}
	}
	rank := 0
	for _, v := range values {
		if n := l.rank(v, c); n > rank {
			best, rank = v, n
		}
	}
	return best
}

// texts returns the texts that a connection fits, the most specific one first. It returns nil at levels that are not about the text of a connection.
func (l level) texts(c Connection) []string {
	switch l {
	case destinationPort:
		return []string{strconv.Itoa(int(c.Destination.Port()))}
	case serverName: // as findFilterChainForServerName: the whole name, then the rest of it from each dot
		name := ascii.Lower(c.ServerName)
		all := []string{name}
		for i := 1; i < len(name)-1; i++ {
			if name[i] == '.' {
				all = append(all, name[i:])
			}
		}
		return all
	case transport:
		return []string{c.Transport}
	case protocol:
		return c.Protocols
	case sourcePort:
		return []string{strconv.Itoa(int(c.Source.Port()))}
	}
	return nil
}

// rank is how specific a value is for a connection, 0 if the connection does not fit it.
func (l level) rank(v value, c Connection) int {
	if v == (value{}) {
		return 1
	}
	switch l {
	case destination:
		return rankNetwork(v, c.Destination.Addr())
	case directSource:
		return rankNetwork(v, c.Direct)
	case sourceAddress:
		return rankNetwork(v, c.Source.Addr())
	case sourceType:
		if (v.text == listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK.String()) == c.isLocal() {
			return 2
		}
		return 0
	}
	texts := l.texts(c)
	if i := slices.Index(texts, v.text); i >= 0 {
		return 1 + len(texts) - i
	}
	return 0
}

func rankNetwork(v value, address netip.Addr) int {
	if !v.network.Contains(address) {
		return 0
	}
	return 1 + v.network.Bits()
}

// isLocal follows Network::Utility::isSameIpOrLoopback, for which 127.0.0.2 is not a loopback address.
func (c Connection) isLocal() bool {
	source := c.Source.Addr()
	return source == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || source == netip.IPv6Loopback() || source == c.Destination.Addr()
}

// Passes reports whether it is certain that a chain, which may be the default one, takes no connection that fits a match.
func (cs *Chains) Passes(m *Chain, chain *listenerv3.FilterChain) bool {
	if chain == cs.fallback {
		search := search{chains: cs, match: m, steps: patience}
		return !search.getsLost(0, cs.root)
	}
	own := cs.Of(chain)
	return slices.ContainsFunc(cs.chains, func(c *Chain) bool { return c.Covers(m) && c.beats(own, m) })
}

// beats reports whether the other chain takes no connection that fits a match. The chain itself must cover the match.
func (c *Chain) beats(other, m *Chain) bool {
	if other.vague {
		return false
	}
	for l := range levels {
		apart, behind, equal := true, true, true
		for _, mine := range m.values[l] {
			for _, theirs := range other.values[l] {
				if l.meets(mine, theirs) == No {
					continue
				}
				apart = false
				behind = behind && c.precedes(l, mine, theirs)
				equal = equal && (slices.Contains(c.values[l], theirs) || c.precedes(l, mine, theirs))
			}
		}
		if apart || behind {
			return true
		}
		if !equal {
			return false
		}
	}
	return false
}

// precedes reports whether the chain has a value that covers a given one and is narrower than the other chain's value, so that Envoy follows it.
func (c *Chain) precedes(l level, fits, theirs value) bool {
	return slices.ContainsFunc(c.values[l], func(own value) bool {
		return own != theirs && !own.anyAddress() && l.covers(own, fits) && l.covers(theirs, own)
	})
}

// Unreachable reports whether it is certain that a chain takes no connection, because other chains match all of them more specifically. If the
// destinations of all connections are known, to lists them; an address among them can be invalid, which means that it is not known. instead is a chain
// that is more specific, if there is one.
func (cs *Chains) Unreachable(chain *listenerv3.FilterChain, to ...netip.AddrPort) (instead *listenerv3.FilterChain, yes bool) {
	if chain == cs.fallback {
		return nil, cs.Passes(NewChain(nil), chain)
	}
	if len(to) == 0 {
		to = []netip.AddrPort{{}}
	}
	for _, one := range to {
		search := search{chains: cs, chain: cs.Of(chain), to: one, steps: patience}
		if search.chain.vague || search.reaches(0, cs.root) {
			return nil, false
		}
		instead = search.instead
	}
	return instead, true
}

// search walks the tree. When it runs out of steps, it assumes that what it looks for is possible.
type search struct {
	chains *Chains
	chain  *Chain         // to be found
	to     netip.AddrPort // of the connections, if it is known
	match  *Chain         // of the connections
	steps  int            // that are left
	// instead is a chain that is more specific.
	instead *listenerv3.FilterChain
}

const (
	patience         = 10_000    // steps of a search
	patienceTogether = 5_000_000 // comparisons of addresses for all chains
)

// reaches reports whether a connection can reach the chain among those of a node.
func (s *search) reaches(l level, at *node) bool {
	if s.steps--; l == levels || s.steps <= 0 || l > destination && len(at.chains) == 1 {
		return true
	}
	values, below := s.chains.divide(at, l)
	if l.hasAddresses() {
		s.chains.spent += len(values) * len(s.chain.values[l])
	}
	return s.chains.spent > patienceTogether || slices.ContainsFunc(s.chain.values[l], func(v value) bool {
		better, lost := s.elsewhere(l, v, at)
		if lost && better != v {
			s.instead = s.chains.messages[below[better].chains[0]]
		}
		return !lost && s.reaches(l+1, below[v])
	})
}

// elsewhere reports whether Envoy does not follow a value: it follows a more specific one for all connections that fit, or the known destination does not
// fit, and then better is the value itself.
func (s *search) elsewhere(l level, v value, at *node) (better value, yes bool) {
	conn := Connection{Destination: s.to}
	switch {
	case l == destinationPort && s.to.Port() != 0:
		if port := number(uint32(s.to.Port())); v == (value{}) && at.below[port] != nil {
			return port, true
		}
		return v, l.rank(v, conn) == 0
	case l == destination && s.to.Addr().IsValid():
		own := l.rank(v, conn)
		if i := slices.IndexFunc(at.values, func(o value) bool { return l.rank(o, conn) > own }); i >= 0 && own > 0 {
			return at.values[i], true
		}
		return v, own == 0
	case l.hidden(v, at.values):
		i := slices.IndexFunc(at.values, func(o value) bool { return o != v && l.covers(v, o) })
		return at.values[i], true
	}
	return v, false
}

// getsLost reports whether a connection that fits the match can reach a place of the tree below which no chain fits.
func (s *search) getsLost(l level, at *node) bool {
	if l == levels {
		return false
	}
	if s.steps--; s.steps <= 0 || s.match.vague {
		return true
	}
	values, below := s.chains.divide(at, l)
	for _, fits := range s.match.values[l] {
		if !slices.ContainsFunc(values, func(v value) bool { return l.covers(v, fits) }) {
			return true
		}
		for _, v := range values {
			if l.meets(fits, v) != No && s.getsLost(l+1, below[v]) {
				return true
			}
		}
	}
	return false
}

// hidden reports whether everything that fits a value also fits a more specific one.
func (l level) hidden(v value, others []value) bool {
	switch {
	case l == sourceType && v == value{}:
		return len(others) == 3 // near, far and any
	case v.network.IsValid():
		var narrower []netip.Prefix
		for _, o := range others {
			if o.network.IsValid() && o != v && v.network.Overlaps(o.network) && o.network.Bits() > v.network.Bits() {
				narrower = append(narrower, o.network)
			}
		}
		return filled(v.network, narrower)
	}
	return false
}

// filled reports whether some parts of a network are all of it.
func filled(network netip.Prefix, parts []netip.Prefix) bool {
	if len(parts) == 0 {
		return false
	}
	var lower, upper []netip.Prefix
	low, high := halves(network)
	for _, p := range parts {
		switch {
		case p.Bits() <= network.Bits():
			return true
		case low.Contains(p.Addr()):
			lower = append(lower, p)
		default:
			upper = append(upper, p)
		}
	}
	return filled(low, lower) && filled(high, upper)
}

func halves(network netip.Prefix) (low, high netip.Prefix) {
	bits := network.Bits() + 1
	bytes := network.Addr().AsSlice()
	bytes[(bits-1)/8] |= 0x80 >> ((bits - 1) % 8)
	other, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(network.Addr(), bits), netip.PrefixFrom(other, bits)
}
