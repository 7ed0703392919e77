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
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		inside(p, graph.ClusterSpecifierPlugin, func(e *graph.Edge) {
			declared := func() (names []string) {
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
			if near := p.Nearest(e.Target, declared); near != "" {
				d.Help, d.Fixes = fmt.Sprintf("did you mean %q?", near), lint.Correct(e.At(), e.Target, near)
			}
			p.ReportEdge(e, d)
		})
	}),
})
