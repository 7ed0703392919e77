package http

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "buffer-vs-stream",
	Severity: lint.Warning,
	Summary:  "an upgrade is allowed, and the buffer filter waits for the end of its request",
	Links: []string{
		"BufferFilter::decodeHeaders (source/extensions/filters/http/buffer/buffer_filter.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/buffer_filter",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			if !m.Routes.Known {
				continue
			}
			for i, u := range m.Message.GetUpgradeConfigs() {
				if u.GetEnabled() != nil && !u.GetEnabled().GetValue() {
					continue
				}
				own, filters := m.At.Item("upgrade_configs", i), m.Filters
				if len(u.GetFilters()) > 0 {
					filters = envoy.HTTPFiltersOf(own, "filters", u.GetFilters())
				}
				for _, f := range filters {
					if f.Kind == "buffer" && !f.Message.GetDisabled() && !configuredSomewhere(m.Routes, f.Message.GetName()) {
						p.Report(f.At, lint.Diagnostic{
							Message: fmt.Sprintf("no %s reaches an upstream", u.GetUpgradeType()),
							Notes:   []string{"the buffer filter waits for the end of a request, which an upgrade does not have before its connection closes"},
							Help:    "give the upgrade filters of its own without this one, or disable it for the routes of the upgrade",
							Related: []lint.Related{lint.RelatedTo(own, "the upgrade")},
						})
					}
				}
			}
		}
	}),
})

// configuredSomewhere reports whether a part of a route table configures a filter in its own way.
func configuredSomewhere(routes envoy.Routes, filter string) bool {
	for l := range routes.Levels {
		if l.Configs[filter] != nil {
			return true
		}
	}
	return false
}
