package transition

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-chain-drain",
	Severity: lint.Info,
	Summary:  "the connections of some filter chains drain",
	Links: []string{
		"ListenerImpl::diffFilterChain, FilterChainManagerImpl::findExistingFilterChain (source/common/listener_manager)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/lds",
		"https://github.com/envoyproxy/envoy/issues/27411",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Listener) {
			if d := envoy.DrainOf(change); len(d.Chains) > 0 {
				reportChainDrain(p, d)
			}
		}
	}),
})

// shownChains is how many chains a message names.
const shownChains = 5

func reportChainDrain(p *lint.Pass, d envoy.Drain) {
	severity, note := drained(p, d)
	var names []string
	for _, chain := range d.Chains[:min(len(d.Chains), shownChains)] {
		names = append(names, chainLabel(chain))
	}
	if more := len(d.Chains) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	what := "filter chain " + names[0] + " is changed or removed: its connections drain"
	if len(names) > 1 {
		what = "filter chains " + words.And(names) + " are changed or removed: their connections drain"
	}
	first := d.Chains[0]
	p.Report(d.Listener.AtPath(first.Path), lint.Diagnostic{
		Severity: severity, Message: fmt.Sprintf("listener %q: %s", d.Listener.Name, what), Notes: []string{note},
	})
}

// chainLabel returns the name of a chain and its hosts.
func chainLabel(chain envoy.DrainedChain) string {
	label := fmt.Sprintf("%q", chain.Name())
	if hosts := chain.Message.GetFilterChainMatch().GetServerNames(); len(hosts) > 0 {
		label += " (" + strings.Join(hosts[:min(len(hosts), 3)], ", ") + andMore(max(len(hosts)-3, 0), "more", "more") + ")"
	}
	return label
}
