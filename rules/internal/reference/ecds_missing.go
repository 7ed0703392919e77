package reference

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "ecds-missing",
	Severity: lint.Error,
	Summary:  "the discovered configuration of a filter does not exist, and there is no default_config",
	Links:    []string{"FilterChainHelper (source/common/http/filter_chain_helper.h)", "https://github.com/istio/istio/issues/38313"},
	Run: lint.EachDangling(graph.ExtensionConfig, func(p *lint.Pass, e *graph.Edge, world graph.World) {
		if cs, ok := graph.As[*corev3.ExtensionConfigSource](e.Place); ok && cs.GetDefaultConfig() == nil {
			p.ReportDangling(e, world, lint.Diagnostic{
				Message: fmt.Sprintf("no extension config is named %q", e.Target),
				Notes: []string{"after initial_fetch_timeout (15 s unless set), Envoy answers 500 (response flag NFCF), " +
					"or closes the connections of a network filter"},
			})
		}
	}),
})
