package listener

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
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
		if l.GetFilterChainMatcher() != nil || takesAll(l) {
			return
		}
		type filed struct {
			chain int
			match *match.Chain
		}
		tree := map[string][]filed{}
		for i, c := range l.GetFilterChains() {
			own := at.Item("filter_chains", i)
			now := match.NewChain(c.GetFilterChainMatch())
			if !now.Valid() {
				continue
			}
			if now.Repeats() {
				p.Report(place(own, c), lint.Diagnostic{
					Message:  "the match of the filter chain has a duplicate value in a list",
					Notes:    []string{envoy.OnReject(at.Resource()) + ": it reads this as two overlapping chains"},
					Help:     "list each value once; server names must differ in more than case, address ranges in their network",
					Rejected: true, Upstream: "multiple filter chains with overlapping matching rules are defined",
				})
				continue
			}
			clash := -1
			for _, b := range now.Branches() {
				k := slices.IndexFunc(tree[b], func(f filed) bool { return now.Clashes(f.match) })
				if k >= 0 && (clash < 0 || tree[b][k].chain < clash) {
					clash = tree[b][k].chain
				}
				tree[b] = append(tree[b], filed{i, now})
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
		Message:  fmt.Sprintf("the filter chain matches connections that %s also matches", called(first, i)),
		Notes:    []string{envoy.OnReject(at.Resource())},
		Help:     "list each value in only one of the chains",
		Rejected: true, Upstream: "multiple filter chains with overlapping matching rules are defined",
		Related: []lint.Related{lint.RelatedTo(place(at.Item("filter_chains", i), first), "the other chain")},
	}
	if equalMatch(first.GetFilterChainMatch(), second.GetFilterChainMatch()) {
		d.Message = fmt.Sprintf("the filter chain has the same match as %s", called(first, i))
		d.Help = "change one so that they match different connections, or remove one"
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

// place returns the chain's match, or the chain if it has none.
func place(at lint.At, c *listenerv3.FilterChain) lint.At {
	if c.GetFilterChainMatch() != nil {
		return at.Field("filter_chain_match").Key()
	}
	return at
}
