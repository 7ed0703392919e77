package http

import (
	healthcheckv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/health_check/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "health-check-answers-all",
	Severity: lint.Error,
	Summary:  "a health_check filter without headers answers every request itself",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/health_check_filter"},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			for _, f := range m.Filters {
				check, ok := f.Config.(*healthcheckv3.HealthCheck)
				if !ok || f.Message.GetDisabled() || check.GetPassThroughMode().GetValue() || len(check.GetHeaders()) > 0 || !forwards(m.Routes, f.Message.GetName()) {
					continue
				}
				p.Report(f.Own.Field("pass_through_mode").Key(), lint.Diagnostic{
					Message: "this filter answers every request, and no route is reached",
					Notes:   []string{"without headers, Envoy takes every request for a health check and answers it with an empty 200"},
					Help:    `add the path of the health check: headers: [{name: ":path", string_match: {exact: /healthz}}]`,
				})
			}
		}
	}),
})

// forwards reports whether a route sends requests to a cluster, and nothing configures a filter for routes.
func forwards(routes envoy.Routes, filter string) (does bool) {
	for level := range routes.Levels {
		if level.Configs[filter] != nil {
			return false
		}
		does = does || level.Route.GetRoute() != nil
	}
	return does
}
