package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-chain-unnamed",
	Severity: lint.Error,
	Summary:  "the filter chains of a listener with a matcher have no names of their own",
	Links:    []string{"FilterChainManagerImpl::setupFilterChainMatcher (source/common/listener_manager/filter_chain_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if l.GetFilterChainMatcher() == nil {
			return
		}
		first := map[string]lint.At{}
		for i, c := range l.GetFilterChains() {
			own := at.Item("filter_chains", i).Field("name")
			d := lint.Diagnostic{Notes: []string{envoy.OnReject(at.Resource())}, Rejected: true}
			if before, twice := first[c.GetName()]; c.GetName() == "" {
				d.Message = "the filter chain has no name, and filter_chain_matcher chooses by name"
				d.Help = "name it, and let the matcher's action be that name"
				d.Upstream = `"name" field is required when using a listener matcher`
				p.Report(own, d)
			} else if twice {
				d.Message = fmt.Sprintf("another filter chain is named %q, and filter_chain_matcher chooses by name", c.GetName())
				d.Help = "give it a name of its own"
				d.Upstream = fmt.Sprintf(`"name" field is duplicated with value '%s'`, c.GetName())
				d.Related = []lint.Related{lint.RelatedTo(before, "the first one")}
				p.Report(own, d)
			} else {
				first[c.GetName()] = own
			}
		}
	}),
})
