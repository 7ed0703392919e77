package http

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-never-enabled",
	Severity: lint.Warning,
	Summary:  "an HTTP filter is disabled, and no route enables it",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_filters#route-specific-config"},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			if !m.Routes.Known {
				continue
			}
			for _, f := range m.Filters {
				if f.Message.GetDisabled() && !enabledSomewhere(m.Routes, f.Message.GetName()) {
					p.Report(f.At.Field("disabled"), lint.Diagnostic{
						Message: fmt.Sprintf("the filter %q never runs", f.Message.GetName()),
						Notes:   []string{"it is disabled here, and no typed_per_filter_config of a table, virtual host or route enables it"},
						Help:    "remove disabled, or give the routes that need the filter a configuration of it",
					})
				}
			}
		}
	}),
})

func enabledSomewhere(routes envoy.Routes, filter string) bool {
	for l := range routes.Levels {
		if l.Configs[filter] != nil && !l.Filter(filter, true).Off {
			return true
		}
	}
	return false
}
