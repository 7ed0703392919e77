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
	Summary:  "the filter chains of a listener with a matcher do not have unique names",
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
				d.Message = "the filter chain has no name, but filter_chain_matcher selects by name"
				d.Help = "add a name, and use it as the matcher's action"
				d.Upstream = `"name" field is required when using a listener matcher`
				p.Report(own, d)
			} else if twice {
				d.Message = fmt.Sprintf("another filter chain is named %q, but filter_chain_matcher selects by name", c.GetName())
				d.Help = "give it another name"
				d.Upstream = fmt.Sprintf(`"name" field is duplicated with value '%s'`, c.GetName())
				d.Related = []lint.Related{lint.RelatedTo(before, "the first one")}
				p.Report(own, d)
			} else {
				first[c.GetName()] = own
			}
		}
	}),
})
