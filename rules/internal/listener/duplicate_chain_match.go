package listener

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-chain-match",
	Severity: lint.Error,
	Summary:  "two filter chains of a listener match the same connections",
	Links: []string{
		"FilterChainManagerImpl::verifyNoDuplicateMatchers, addFilterChainForSourcePorts (source/common/listener_manager/filter_chain_manager_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/11753",
	},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if l.GetFilterChainMatcher() != nil {
			return
		}
		type branch struct {
			port uint32
			name string
		}
		tree := map[branch][]criteria{}
		for i, c := range l.GetFilterChains() {
			own := at.Item("filter_chains", i)
			now, sure := criteriaOf(i, c.GetFilterChainMatch())
			if !sure {
				continue
			}
			if now.repeats() {
				p.Report(place(own, c), lint.Diagnostic{
					Message: "the match of the filter chain has a value twice in one list",
					Notes:   []string{envoy.OnReject(at.Resource()) + ": it takes this for two chains that overlap"},
					Help:    "list each value once; server names differ in more than case, address ranges in their network",
					Rejected: true, Upstream: "multiple filter chains with overlapping matching rules are defined",
				})
				continue
			}
			clash := -1
			for _, name := range now.names {
				b := branch{now.port, name}
				if k := slices.IndexFunc(tree[b], now.overlaps); k >= 0 && (clash < 0 || tree[b][k].chain < clash) {
					clash = tree[b][k].chain
				}
				tree[b] = append(tree[b], now)
			}
			if clash >= 0 {
				reportClash(p, at, l, clash, i)
			}
		}
	}),
})

func reportClash(p *lint.Pass, at lint.At, l *listenerv3.Listener, i, j int) {
	first, second := l.GetFilterChains()[i], l.GetFilterChains()[j]
	d := lint.Diagnostic{
		Message: fmt.Sprintf("the filter chain matches connections that %s matches too", called(first, i)),
		Notes:   []string{envoy.OnReject(at.Resource())},
		Help:    "leave each value in one of the chains",
		Rejected: true, Upstream: "multiple filter chains with overlapping matching rules are defined",
		Related: []lint.Related{lint.RelatedTo(place(at.Item("filter_chains", i), first), "the other chain")},
	}
	if equalMatch(first.GetFilterChainMatch(), second.GetFilterChainMatch()) {
		d.Message = fmt.Sprintf("the filter chain has the same match as %s", called(first, i))
		d.Help = "let them match different connections, or remove one"
		d.Upstream = fmt.Sprintf("filter chain '%s' has the same matching rules defined as '%s'", second.GetName(), first.GetName())
	}
	p.Report(place(at.Item("filter_chains", j), second), d)
}

func equalMatch(a, b *listenerv3.FilterChainMatch) bool {
	return proto.Equal(cmp.Or(a, &listenerv3.FilterChainMatch{}), cmp.Or(b, &listenerv3.FilterChainMatch{}))
}

func called(c *listenerv3.FilterChain, i int) string {
	if c.GetName() == "" {
		return fmt.Sprintf("filter_chains[%d]", i)
	}
	return fmt.Sprintf("%q", c.GetName())
}

// place is where the chain's match stands, or the chain, where it has none.
func place(at lint.At, c *listenerv3.FilterChain) lint.At {
	if c.GetFilterChainMatch() != nil {
		return at.Field("filter_chain_match").Key()
	}
	return at
}

// criteria is a match as Envoy files it: lists are never empty, "" and 0 stand for what is not set.
type criteria struct {
	chain       int
	port        uint32
	names       []string
	transport   string
	source      listenerv3.FilterChainMatch_ConnectionSourceType
	texts       [4][]string // destination, application protocols, direct source, source
	sourcePorts []uint32
}

func criteriaOf(chain int, m *listenerv3.FilterChainMatch) (criteria, bool) {
	c := criteria{
		chain: chain, port: m.GetDestinationPort().GetValue(), transport: m.GetTransportProtocol(), source: m.GetSourceType(),
		sourcePorts: m.GetSourcePorts(),
	}
	for _, name := range m.GetServerNames() {
		if name = ascii.Lower(name); strings.HasPrefix(name, "*.") {
			name = name[1:]
		}
		c.names = append(c.names, name)
	}
	c.texts[1] = m.GetApplicationProtocols()
	for i, ranges := range map[int][]*corev3.CidrRange{0: m.GetPrefixRanges(), 2: m.GetDirectSourcePrefixRanges(), 3: m.GetSourcePrefixRanges()} {
		for _, r := range ranges {
			network, ok := networkOf(r)
			if !ok {
				return c, false
			}
			c.texts[i] = append(c.texts[i], network)
		}
	}
	for i := range c.texts {
		c.texts[i] = orUnset(c.texts[i])
	}
	c.names, c.sourcePorts = orUnset(c.names), orUnset(c.sourcePorts)
	return c, true
}

func orUnset[T any](values []T) []T {
	if len(values) == 0 {
		return make([]T, 1)
	}
	return values
}

// networkOf is how Envoy writes a range: masked (CidrRange::create). A length that is not set is 0.
func networkOf(r *corev3.CidrRange) (string, bool) {
	address, err := netip.ParseAddr(r.GetAddressPrefix())
	if err != nil || address.Zone() != "" {
		return "", false
	}
	network, err := address.Prefix(min(int(r.GetPrefixLen().GetValue()), address.BitLen()))
	return network.String(), err == nil
}

func (c criteria) repeats() bool {
	return repeated(c.names) || repeated(c.sourcePorts) || slices.ContainsFunc(c.texts[:], repeated[string])
}

func repeated[T comparable](values []T) bool {
	seen := map[T]bool{}
	for _, v := range values {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

// overlaps tells whether two matches that share a port and a server name share all the rest.
func (c criteria) overlaps(other criteria) bool {
	if c.transport != other.transport || c.source != other.source || !shared(c.sourcePorts, other.sourcePorts) {
		return false
	}
	for i := range c.texts {
		if !shared(c.texts[i], other.texts[i]) {
			return false
		}
	}
	return true
}

func shared[T comparable](a, b []T) bool {
	return slices.ContainsFunc(a, func(v T) bool { return slices.Contains(b, v) })
}
