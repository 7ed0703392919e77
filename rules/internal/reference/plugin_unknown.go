package reference

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "plugin-unknown",
	Severity: lint.Error,
	Summary:  "a route names a cluster specifier plugin that its route configuration does not declare",
	Links:    []string{"CommonConfigImpl::clusterSpecifierPlugin (source/common/router/config_impl.cc)"},
	Run: inside(graph.ClusterSpecifierPlugin, func(p *lint.Pass, e *graph.Edge) {
		declared := func(graph.View) (names []string) {
			table, _ := graph.As[*routev3.RouteConfiguration](e.Place.Enclosing("envoy.config.route.v3.RouteConfiguration"))
			for _, plugin := range table.GetClusterSpecifierPlugins() {
				names = append(names, plugin.GetExtension().GetName())
			}
			return names
		}
		d := lint.Diagnostic{
			Message:  fmt.Sprintf("the route configuration does not declare a cluster specifier plugin named %q", e.Target),
			Notes:    []string{envoy.OnReject(e.From)},
			Help:     "declare it under cluster_specifier_plugins",
			Rejected: e.From.State == "",
			Upstream: fmt.Sprintf("Unknown cluster specifier plugin name: %s is used in the route", e.Target),
		}
		d.Guess(e.Target, declared, correct(e))
		p.ReportEdge(e, d)
	}),
})
