package http

import (
	healthcheckv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/health_check/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "health-check-answers-all",
	Severity: lint.Error,
	Summary:  "a health_check filter without headers answers every request itself",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/health_check_filter"},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for i, f := range m.GetHttpFilters() {
			config, own := envoy.Content(at.Item("http_filters", i).Field("typed_config"), f.GetTypedConfig())
			check, ok := config.(*healthcheckv3.HealthCheck)
			if !ok || f.GetDisabled() || check.GetPassThroughMode().GetValue() || len(check.GetHeaders()) > 0 || !forwards(envoy.RoutesOf(p.Snapshot, at, m), f.GetName()) {
				continue
			}
			p.Report(own.Field("pass_through_mode").Key(), lint.Diagnostic{
				Message: "this filter answers every request, and no route is reached",
				Notes:   []string{"without headers, envoy takes every request for a health check and answers it with an empty 200"},
				Help:    `add the path of the health check: headers: [{name: ":path", string_match: {exact: /healthz}}]`,
			})
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
