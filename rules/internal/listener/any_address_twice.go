package listener

import (
	"fmt"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "any-address-twice",
	Severity: lint.Warning,
	Summary:  "one filter chain has no range of addresses, another one has 0.0.0.0/0 or ::/0, and Envoy uses either",
	Links: []string{
		"FilterChainManagerImpl::convertIPsToTries (source/common/listener_manager/filter_chain_manager_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/listener/v3/listener_components.proto#config-listener-v3-filterchainmatch",
	},
	Run: eachRunning(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if takesAll(l) {
			return
		}
		all := match.NewChains(l)
		if all == nil {
			return
		}
		for _, chance := range all.Chances() {
			i, j := slices.Index(l.GetFilterChains(), chance.Any), slices.Index(l.GetFilterChains(), chance.Unset)
			p.Report(at.Item("filter_chains", i).Field("filter_chain_match", chance.Field), lint.Diagnostic{
				Message: fmt.Sprintf("Envoy uses either this filter chain or %s, and which one can change with each start", called(chance.Unset, j)),
				Notes: []string{"for Envoy, the range of all addresses and no range are the same; it uses one of them, also for connections " +
					"that then fit only the other chain, such as those with another server name"},
				Help:    fmt.Sprintf("remove %s here, or write it in both filter chains", chance.Field),
				Related: []lint.Related{lint.RelatedTo(place(at.Item("filter_chains", j), chance.Unset), "this filter chain has no range")},
			})
		}
	}),
})
