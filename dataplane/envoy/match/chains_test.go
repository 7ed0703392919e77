package match_test

import (
	"net/netip"
	"slices"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

var (
	serverNames = []string{"a.b", "*.b", "x.a.b", "*.a.b", "A.B"}
	ranges      = []string{"10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "10.1.0.0/16", "0.0.0.0/1", "127.0.0.0/8", "::1/128"}
	addresses   = []string{"10.0.0.1", "10.1.0.1", "10.200.0.1", "127.0.0.1", "192.0.2.1", "::1"}
)

// some draws none, or up to three different ones.
func some[T any](t *rapid.T, what string, of []T) (all []T) {
	if rapid.IntRange(0, 2).Draw(t, "any "+what) > 0 {
		return nil
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(of)-1), 1, 3, rapid.ID[int]).Draw(t, what) {
		all = append(all, of[i])
	}
	return all
}

func cidrs(texts []string) (all []*corev3.CidrRange) {
	for _, s := range texts {
		p := netip.MustParsePrefix(s)
		all = append(all, &corev3.CidrRange{AddressPrefix: p.Addr().String(), PrefixLen: wrapperspb.UInt32(uint32(p.Bits()))})
	}
	return all
}

func drawChain(t *rapid.T) *listenerv3.FilterChainMatch {
	if rapid.Bool().Draw(t, "simple") { // several of these can leave nothing to another one
		return &listenerv3.FilterChainMatch{
			SourceType:   listenerv3.FilterChainMatch_ConnectionSourceType(rapid.IntRange(0, 2).Draw(t, "source type")),
			PrefixRanges: cidrs(some(t, "to", ranges[:3])),
		}
	}
	m := &listenerv3.FilterChainMatch{
		PrefixRanges:             cidrs(some(t, "to", ranges)),
		ServerNames:              some(t, "names", serverNames),
		ApplicationProtocols:     some(t, "protocols", []string{"h2", "http/1.1", "h3"}),
		DirectSourcePrefixRanges: cidrs(some(t, "direct", ranges[:3])),
		SourceType:               listenerv3.FilterChainMatch_ConnectionSourceType(rapid.IntRange(0, 2).Draw(t, "source type")),
		SourcePrefixRanges:       cidrs(some(t, "from", ranges)),
		SourcePorts:              some(t, "ports", []uint32{1, 2, 3}),
	}
	if rapid.IntRange(0, 3).Draw(t, "has port") == 0 {
		m.DestinationPort = wrapperspb.UInt32(rapid.SampledFrom([]uint32{80, 443}).Draw(t, "port"))
	}
	m.TransportProtocol = rapid.SampledFrom([]string{"", "", "tls", "raw_buffer"}).Draw(t, "transport")
	return m
}

func drawConnection(t *rapid.T) match.Connection {
	address := func(what string) netip.Addr { return netip.MustParseAddr(rapid.SampledFrom(addresses).Draw(t, what)) }
	return match.Connection{
		Destination: netip.AddrPortFrom(address("to"), rapid.SampledFrom([]uint16{80, 443, 8080}).Draw(t, "port")),
		ServerName:  rapid.SampledFrom([]string{"", "a.b", "x.b", "x.a.b", "y.a.b", "b", "c"}).Draw(t, "name"),
		Transport:   rapid.SampledFrom([]string{"tls", "raw_buffer"}).Draw(t, "transport"),
		Protocols:   some(t, "protocols", []string{"h2", "http/1.1", "h3"}),
		Direct:      address("direct"),
		Source:      netip.AddrPortFrom(address("from"), rapid.SampledFrom([]uint16{1, 2, 4}).Draw(t, "source port")),
	}
}

// fits says whether a listener with no other chain would give a chain the connection.
func fits(m *listenerv3.FilterChainMatch, c match.Connection) bool {
	alone := &listenerv3.Listener{FilterChains: []*listenerv3.FilterChain{{FilterChainMatch: m}}}
	return match.NewChains(alone).Take(c) != nil
}

func TestChains(t *testing.T) {
	hidden, passed, covered, apart := 0, 0, 0, 0
	tried := func() bool { return hidden > 0 && passed > 0 && covered > 0 && apart > 0 }
	checkUntil(t, tried, func(t *rapid.T) {
		l := &listenerv3.Listener{DefaultFilterChain: &listenerv3.FilterChain{Name: "default"}}
		for range rapid.IntRange(1, 8).Draw(t, "chains") {
			c := &listenerv3.FilterChain{FilterChainMatch: drawChain(t)}
			own := match.NewChain(c.GetFilterChainMatch())
			clash := func(o *listenerv3.FilterChain) bool { return match.NewChain(o.GetFilterChainMatch()).Clashes(own) }
			if !own.Repeats() && !slices.ContainsFunc(l.GetFilterChains(), clash) { // Envoy would reject it
				l.FilterChains = append(l.FilterChains, c)
			}
		}
		chains := match.NewChains(l)
		m, o := drawChain(t), drawChain(t)
		one, other := match.NewChain(m), match.NewChain(o)
		unreachable, passes := map[*listenerv3.FilterChain]bool{}, map[*listenerv3.FilterChain]bool{}
		for _, c := range append(slices.Clone(l.GetFilterChains()), l.GetDefaultFilterChain()) {
			if _, unreachable[c] = chains.Unreachable(c); unreachable[c] {
				hidden++
			}
			if passes[c] = chains.Passes(one, c); passes[c] {
				passed++
			}
		}
		if one.Covers(other) {
			covered++
		}
		if one.Meets(other) == match.No {
			apart++
		}
		for range 100 {
			c := drawConnection(t)
			taker := chains.Take(c)
			switch {
			case unreachable[taker]:
				t.Fatalf("%v comes to %v", c, taker)
			case taker != l.GetDefaultFilterChain() && reachesNot(chains, taker, c.Destination):
				t.Fatalf("%v comes to %v", c, taker)
			case passes[taker] && fits(m, c):
				t.Fatalf("%v, which fits %v, comes to %v", c, m, taker)
			case one.Covers(other) && fits(o, c) && !fits(m, c):
				t.Fatalf("%v does not cover %v: %v", m, o, c)
			case one.Meets(other) == match.No && fits(o, c) && fits(m, c):
				t.Fatalf("%v and %v meet: %v", m, o, c)
			}
		}
	})
}

// reachesNot reports whether a chain is unreachable for connections to a destination, or to its port.
func reachesNot(chains *match.Chains, chain *listenerv3.FilterChain, to netip.AddrPort) bool {
	_, never := chains.Unreachable(chain, to)
	_, neverToPort := chains.Unreachable(chain, netip.AddrPortFrom(netip.Addr{}, to.Port()))
	return never || neverToPort
}

func TestUnreachableChains(t *testing.T) {
	chain := func(m *listenerv3.FilterChainMatch) *listenerv3.FilterChain {
		return &listenerv3.FilterChain{FilterChainMatch: m}
	}
	to := func(ranges ...string) *listenerv3.FilterChainMatch {
		return &listenerv3.FilterChainMatch{PrefixRanges: cidrs(ranges)}
	}
	from := func(t listenerv3.FilterChainMatch_ConnectionSourceType) *listenerv3.FilterChainMatch {
		return &listenerv3.FilterChainMatch{SourceType: t}
	}
	names := func(names ...string) *listenerv3.FilterChainMatch {
		return &listenerv3.FilterChainMatch{ServerNames: names}
	}
	for name, test := range map[string]struct {
		first  *listenerv3.FilterChainMatch
		others []*listenerv3.FilterChainMatch
		want   bool
	}{
		"alone":                            {to("10.0.0.0/8"), nil, false},
		"half of its addresses":            {to("10.0.0.0/8"), []*listenerv3.FilterChainMatch{to("10.0.0.0/9")}, false},
		"both halves":                      {to("10.0.0.0/8"), []*listenerv3.FilterChainMatch{to("10.0.0.0/9"), to("10.128.0.0/9")}, true},
		"both halves, and something else":  {to("10.0.0.0/8", "11.0.0.0/8"), []*listenerv3.FilterChainMatch{to("10.0.0.0/9", "10.128.0.0/9")}, false},
		"quarters":                         {to("::/0"), []*listenerv3.FilterChainMatch{to("::/1", "8000::/2", "c000::/2")}, true},
		"near and far":                     {nil, []*listenerv3.FilterChainMatch{from(listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK), from(listenerv3.FilterChainMatch_EXTERNAL)}, true},
		"near":                             {nil, []*listenerv3.FilterChainMatch{from(listenerv3.FilterChainMatch_SAME_IP_OR_LOOPBACK)}, false},
		"a name, and all names around it":  {names("*.b"), []*listenerv3.FilterChainMatch{names("a.b")}, false},
		"a wildcard below, and the others": {nil, []*listenerv3.FilterChainMatch{names("*.b")}, false},
	} {
		l := &listenerv3.Listener{FilterChains: []*listenerv3.FilterChain{chain(test.first)}}
		for _, m := range test.others {
			l.FilterChains = append(l.FilterChains, chain(m))
		}
		if _, got := match.NewChains(l).Unreachable(l.GetFilterChains()[0]); got != test.want {
			t.Errorf("%s: unreachable: %t", name, got)
		}
	}
	for name, test := range map[string]struct {
		chains []*listenerv3.FilterChainMatch
		want   bool
	}{
		"nothing":                         {nil, false},
		"all":                             {[]*listenerv3.FilterChainMatch{nil}, true},
		"all, and a name":                 {[]*listenerv3.FilterChainMatch{names("a.b"), nil}, true},
		"a name":                          {[]*listenerv3.FilterChainMatch{names("a.b")}, false},
		"all, and a port that leads away": {[]*listenerv3.FilterChainMatch{nil, {DestinationPort: wrapperspb.UInt32(80), ServerNames: []string{"a.b"}}}, false},
	} {
		l := &listenerv3.Listener{DefaultFilterChain: chain(nil)}
		for _, m := range test.chains {
			l.FilterChains = append(l.FilterChains, chain(m))
		}
		if _, got := match.NewChains(l).Unreachable(l.GetDefaultFilterChain()); got != test.want {
			t.Errorf("the default chain beside %s: unreachable: %t", name, got)
		}
	}
}

func TestChainsOfOneDestination(t *testing.T) {
	names := func(m *listenerv3.FilterChainMatch, name string) *listenerv3.FilterChain {
		m.ServerNames = []string{name}
		return &listenerv3.FilterChain{Name: name, FilterChainMatch: m}
	}
	to := func(ranges ...string) *listenerv3.FilterChainMatch {
		return &listenerv3.FilterChainMatch{PrefixRanges: cidrs(ranges)}
	}
	port := func(n uint32) *listenerv3.FilterChainMatch {
		return &listenerv3.FilterChainMatch{DestinationPort: wrapperspb.UInt32(n)}
	}
	for name, test := range map[string]struct {
		first, other *listenerv3.FilterChainMatch
		to           string
		want         bool // the first is unreachable
		unfit        bool // and would be without the other
	}{
		"the other has the port":              {&listenerv3.FilterChainMatch{}, port(443), "10.0.0.1:443", true, false},
		"the other has another port":          {&listenerv3.FilterChainMatch{}, port(80), "10.0.0.1:443", false, false},
		"both have the port":                  {port(443), port(443), "10.0.0.1:443", false, false},
		"the other has the address":           {&listenerv3.FilterChainMatch{}, to("10.0.0.1/32"), "10.0.0.1:443", true, false},
		"the other has another address":       {&listenerv3.FilterChainMatch{}, to("10.0.0.2/32"), "10.0.0.1:443", false, false},
		"the other is narrower":               {to("10.0.0.0/8"), to("10.0.0.0/16"), "10.0.0.1:443", true, false},
		"it has no address of the listener":   {to("192.0.2.0/24"), to("10.0.0.0/16"), "10.0.0.1:443", true, true},
		"chance decides":                      {&listenerv3.FilterChainMatch{}, to("0.0.0.0/0"), "10.0.0.1:443", false, false},
		"chance decides, and the other comes": {to("0.0.0.0/0"), &listenerv3.FilterChainMatch{}, "10.0.0.1:443", false, false},
	} {
		l := &listenerv3.Listener{FilterChains: []*listenerv3.FilterChain{names(test.first, "a.example.com"), names(test.other, "b.example.com")}}
		chains := match.NewChains(l)
		instead, got := chains.Unreachable(l.GetFilterChains()[0], netip.MustParseAddrPort(test.to))
		if got != test.want {
			t.Errorf("%s: unreachable: %t", name, got)
		}
		if got && !test.unfit && instead != l.GetFilterChains()[1] {
			t.Errorf("%s: %v instead", name, instead)
		}
		byChance := name[:6] == "chance"
		if pairs := chains.Chances(); len(pairs) == 1 != byChance {
			t.Errorf("%s: %v", name, pairs)
		}
	}
}
