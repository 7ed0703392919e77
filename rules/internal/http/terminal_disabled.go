package http

import (
	"fmt"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "terminal-disabled",
	Severity: lint.Error,
	Summary:  "the last HTTP filter is disabled",
	Links:    []string{"FilterChainHelper::processFilter (source/common/http/filter_chain_helper.h)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for _, list := range filterLists(at, m) {
			last := len(list.filters) - 1
			if last < 0 || !list.filters[last].GetDisabled() {
				continue
			}
			p.Report(list.item(last).Field("disabled"), lint.Diagnostic{
				Message: fmt.Sprintf("the last filter of the chain, %q, is disabled", list.filters[last].GetName()),
				Notes:   []string{envoy.OnReject(at.Resource())},
				Help:    "remove disabled", Fixes: lint.Remove(list.item(last).Field("disabled")).Likely("remove disabled"),
				Rejected: true,
				Upstream: fmt.Sprintf("the last (terminal) filter (%s) in the chain cannot be disabled by default", list.filters[last].GetName()),
			})
		}
	}),
})
