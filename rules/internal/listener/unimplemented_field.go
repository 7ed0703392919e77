package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unimplemented-field",
	Severity: lint.Error,
	Summary:  "a filter chain match uses a field that Envoy does not implement",
	Links:    []string{"FilterChainManagerImpl::verifyNoDuplicateMatchers (source/common/listener_manager/filter_chain_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for i, c := range l.GetFilterChains() {
			match := at.Item("filter_chains", i).Field("filter_chain_match")
			d := lint.Diagnostic{
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     "match addresses with prefix_ranges",
				Rejected: true, Upstream: "filter chain contains unimplemented fields",
			}
			if c.GetFilterChainMatch().GetAddressSuffix() != "" {
				d.Message = "address_suffix is not implemented"
				p.Report(match.Field("address_suffix").Key(), d)
			}
			if c.GetFilterChainMatch().GetSuffixLen() != nil {
				d.Message = "suffix_len is not implemented"
				p.Report(match.Field("suffix_len").Key(), d)
			}
		}
	}),
})
