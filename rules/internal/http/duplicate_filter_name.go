package http

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-filter-name",
	Severity: lint.Info,
	Summary:  "two HTTP filters of a chain have the same name, and a route configures both at once",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_filters#route-specific-config",
		"https://github.com/envoyproxy/envoy/issues/14599",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			first := map[string]envoy.HTTPFilter{}
			for _, f := range m.Filters {
				name := f.Message.GetName()
				other, twice := first[name]
				if !twice {
					first[name] = f
					continue
				}
				if l := configuredBy(m.Routes, name); l != nil {
					reportTwice(p, f, other, l)
				}
			}
		}
	}),
})

// configuredBy returns the first part of the routes that configures the filters of a name.
func configuredBy(routes envoy.Routes, name string) *envoy.RouteLevel {
	for l := range routes.Levels {
		if l.Configs[name] != nil {
			return l
		}
	}
	return nil
}

func reportTwice(p *lint.Pass, f, first envoy.HTTPFilter, l *envoy.RouteLevel) {
	p.Report(f.At.Field("name"), lint.Diagnostic{
		Message: fmt.Sprintf("a route that configures or disables %q does so for both filters of this name", f.Message.GetName()),
		Notes:   []string{"Envoy finds the configuration for a route by the name of the filter; a filter of another type ignores it"},
		Help:    "give each filter a name of its own",
		Related: []lint.Related{
			lint.RelatedTo(first.At.Field("name"), "the first filter of this name"),
			lint.RelatedTo(l.At.Entry("typed_per_filter_config", f.Message.GetName()).Key(), "this applies to both"),
		},
	})
}
