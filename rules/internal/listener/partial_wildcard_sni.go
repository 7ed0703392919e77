package listener

import (
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "partial-wildcard-sni",
	Severity: lint.Error,
	Summary:  "a wildcard in server_names is not the whole first label",
	Links:    []string{"FilterChainManagerImpl::setupFilterChainMatcher (source/common/listener_manager/filter_chain_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if l.GetFilterChainMatcher() != nil {
			return
		}
		for i, c := range l.GetFilterChains() {
			for j, name := range c.GetFilterChainMatch().GetServerNames() {
				if !strings.Contains(name, "*") || strings.HasPrefix(name, "*.") {
					continue
				}
				d := lint.Diagnostic{
					Message:  fmt.Sprintf("%q is a partial wildcard", name),
					Notes:    []string{envoy.OnReject(at.Resource())},
					Help:     "write a wildcard as *. and the rest of the name, as in *.example.com; list other names one by one",
					Rejected: true, Upstream: `partial wildcards are not supported in "server_names"`,
				}
				if name == "*" {
					d.Message = `"*" is not a server name`
					d.Help = "remove server_names: the chain then matches every name, and connections without a name"
				}
				p.Report(at.Item("filter_chains", i).Field("filter_chain_match").Item("server_names", j), d)
			}
		}
	}),
})
