package reference

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-target-unknown",
	Severity: lint.Error,
	Summary:  "a listener's matcher selects a filter chain that the listener does not have",
	Links:    []string{"FilterChainManagerImpl::findFilterChain (source/common/listener_manager/filter_chain_manager_impl.cc)"},
	Run: inside(graph.FilterChain, func(p *lint.Pass, e *graph.Edge) {
		listener, ok := graph.As[*listenerv3.Listener](e.Place.Enclosing("envoy.config.listener.v3.Listener"))
		if !ok || listener.GetFcdsConfig() != nil { // FCDS adds filter chains
			return
		}
		chains := func(graph.View) (names []string) {
			for _, chain := range listener.GetFilterChains() {
				names = append(names, chain.GetName())
			}
			return names
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("the listener has no filter chain %q", e.Target),
			Notes:   []string{"Envoy accepts it and closes the connections that select this chain"},
		}
		d.Guess(e.Target, chains, correct(e))
		p.ReportEdge(e, d)
	}),
})
