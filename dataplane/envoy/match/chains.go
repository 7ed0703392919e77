package match

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Chains tells which filter chain of a listener takes a connection (FilterChainManagerImpl::findFilterChain). Each level of the tree follows its most
// specific value and nothing else: where that leads nowhere the default chain takes the connection, though others would fit.
type Chains struct {
	chains   []*Chain
	messages []*listenerv3.FilterChain
	index    map[*listenerv3.FilterChain]int
	fallback *listenerv3.FilterChain
}

// NewChains reads a listener. With a filter_chain_matcher nothing is known, and the result is nil.
func NewChains(l *listenerv3.Listener) *Chains {
	if l.GetFilterChainMatcher() != nil {
		return nil
	}
	cs := &Chains{messages: l.GetFilterChains(), fallback: l.GetDefaultFilterChain(), index: map[*listenerv3.FilterChain]int{}}
	for i, c := range cs.messages {
		cs.chains = append(cs.chains, NewChain(c.GetFilterChainMatch()))
		cs.index[c] = i
	}
	return cs
}

// Of returns what one of the chains takes. The default one takes everything: Envoy does not look at its match.
func (cs *Chains) Of(chain *listenerv3.FilterChain) *Chain {
	if i, ok := cs.index[chain]; ok {
		return cs.chains[i]
	}
	return NewChain(nil)
}

// Connection is what a filter chain is chosen by, after the listener filters.
type Connection struct {
	Destination netip.AddrPort
	ServerName  string
	Transport   string   // "tls", "raw_buffer" or "quic"
	Protocols   []string // in the client's order
	Direct      netip.Addr
	Source      netip.AddrPort
}

// Take returns the chain that takes a connection, nil if none does.
func (cs *Chains) Take(conn Connection) *listenerv3.FilterChain {
	at := cs.root()
	for l := range levels {
		best, rank := value{}, 0
		values, below := cs.branch(at, l)
		for _, v := range values {
			if n := l.rank(v, conn); n > rank {
				best, rank = v, n
			}
		}
		if rank == 0 {
			return cs.fallback
		}
		at = below[best]
	}
	return cs.messages[at[0]]
}

// root are all chains, as their indexes.
func (cs *Chains) root() []int {
	all := make([]int, len(cs.chains))
	for i := range all {
		all[i] = i
	}
	return all
}

// branch files some chains by their values of a level.
func (cs *Chains) branch(chains []int, l level) (values []value, below map[value][]int) {
	below = map[value][]int{}
	for _, i := range chains {
		for _, v := range cs.chains[i].values[l] {
			if below[v] == nil {
				values = append(values, v)
			}
			below[v] = append(below[v], i)
		}
	}
	return values, below
}

// rank is how specific a value is for a connection, 0 if the connection does not fit it.
func (l level) rank(v value, c Connection) int {
	if v == (value{}) {
		return 1
	}
	fits := false
	switch l {
	case destinationPort:
		fits = v.text == strconv.Itoa(int(c.Destination.Port()))
	case destination:
		return rankNetwork(v, c.Destination.Addr())
	case serverName:
		return rankName(v.text, ascii.Lower(c.ServerName))
	case transport:
		fits = v.text == c.Transport
	case protocol:
		if i := slices.Index(c.Protocols, v.text); i >= 0 {
			return 1 + len(c.Protocols) - i
		}
	case directSource:
		return rankNetwork(v, c.Direct)
	case sourceType:
		fits = (v.text == listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK.String()) == c.isLocal()
	case sourceAddress:
		return rankNetwork(v, c.Source.Addr())
	case sourcePort:
		fits = v.text == strconv.Itoa(int(c.Source.Port()))
	}
	if fits {
		return 2
	}
	return 0
}

func rankNetwork(v value, address netip.Addr) int {
	if !v.network.Contains(address) {
		return 0
	}
	return 2 + v.network.Bits()
}

// rankName follows findFilterChainForServerName: the whole name, then what is left of it at each dot.
func rankName(filed, name string) int {
	switch {
	case filed == name:
		return 2 + len(name)
	case strings.HasPrefix(filed, ".") && len(filed) > 1 && len(name) > len(filed) && strings.HasSuffix(name, filed):
		return 1 + len(filed)
	}
	return 0
}

// isLocal is Network::Utility::isSameIpOrLoopback, to which 127.0.0.2 is not a loopback address.
func (c Connection) isLocal() bool {
	source := c.Source.Addr()
	return source == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || source == netip.IPv6Loopback() || source == c.Destination.Addr()
}

// Passes reports whether all connections that fit a match certainly go past one of the chains, which may be the default one.
func (cs *Chains) Passes(m *Chain, chain *listenerv3.FilterChain) bool {
	if chain == cs.fallback {
		search := search{chains: cs, match: m, steps: patience}
		return !search.getsLost(0, cs.root())
	}
	own := cs.Of(chain)
	return slices.ContainsFunc(cs.chains, func(c *Chain) bool { return c.Covers(m) && c.beats(own, m) })
}

// beats reports whether no connection that fits a match goes to another chain, given that the chain itself covers the match.
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

// precedes reports whether what fits a value is led by one of the chain's values rather than by another chain's wider one.
func (c *Chain) precedes(l level, fits, theirs value) bool {
	return slices.ContainsFunc(c.values[l], func(own value) bool {
		return own != theirs && l.covers(own, fits) && l.covers(theirs, own)
	})
}

// Unreachable reports whether certainly no connection comes to a chain, since others have all that it asks for more specifically.
func (cs *Chains) Unreachable(chain *listenerv3.FilterChain) bool {
	if chain == cs.fallback {
		return cs.Passes(NewChain(nil), chain)
	}
	search := search{chains: cs, chain: cs.Of(chain), steps: patience}
	return !search.reaches(0, cs.root())
}

// search walks the tree. After some steps it gives up, and takes for possible what it looks for.
type search struct {
	chains *Chains
	chain  *Chain // to be found
	match  *Chain // of the connections
	steps  int    // that are left
}

const patience = 10_000

// reaches reports whether a place of the chain is found below some chains.
func (s *search) reaches(l level, at []int) bool {
	if s.steps--; l == levels || s.steps <= 0 {
		return true
	}
	values, below := s.chains.branch(at, l)
	return slices.ContainsFunc(s.chain.values[l], func(v value) bool {
		return !l.hidden(v, values) && s.reaches(l+1, below[v])
	})
}

// getsLost reports whether a connection that fits the match can come to a place from where nothing leads on.
func (s *search) getsLost(l level, at []int) bool {
	if l == levels {
		return false
	}
	if s.steps--; s.steps <= 0 || s.match.vague {
		return true
	}
	values, below := s.chains.branch(at, l)
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

// hidden reports whether whatever fits a value fits a more specific one too.
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
