package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ignored-chain-match",
	Severity: lint.Warning,
	Summary:  "a filter chain has a match that Envoy ignores",
	Links: []string{
		"FilterChainManagerImpl::setupFilterChainMatcher, copyOrRebuildDefaultFilterChain (source/common/listener_manager/filter_chain_manager_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/listener/v3/listener.proto",
	},
	Run: eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if m := l.GetDefaultFilterChain().GetFilterChainMatch(); m != nil && proto.Size(m) > 0 {
			reportIgnored(p, at.Field("default_filter_chain"), "Envoy ignores the match of the default filter chain",
				"the default filter chain takes every connection that no other filter chain takes")
		}
		if l.GetFilterChainMatcher() == nil {
			return
		}
		for i, c := range l.GetFilterChains() {
			if proto.Size(c.GetFilterChainMatch()) > 0 {
				reportIgnored(p, at.Item("filter_chains", i), "Envoy ignores this match: the listener has a filter_chain_matcher",
					"filter_chain_matcher alone selects the filter chain, by its name")
			}
		}
	}),
})

func reportIgnored(p *lint.Pass, chain lint.At, message, note string) {
	own := chain.Field("filter_chain_match")
	p.Report(own, lint.Diagnostic{
		Message: message,
		Notes:   []string{note},
		Help:    "remove the match, or write it where the filter chain is selected",
		Fixes:   lint.Remove(own).Safe("remove the match"),
	})
}
