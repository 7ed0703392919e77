package reference

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "scoped-unknown-route",
	Severity: lint.Error,
	Summary:  "a scope names a route configuration that does not exist",
	Links: []string{
		"ScopedRdsConfigSubscription::addOrUpdateScopes (source/common/router/scoped_rds.cc)",
		"https://github.com/envoyproxy/go-control-plane/issues/514",
	},
	Run: lint.EachEdge(graph.RouteConfiguration, func(p *lint.Pass, e *graph.Edge) {
		switch {
		case e.Field != fieldScope:
		case e.Place.Parent != nil:
			p.ReportEdge(e, lint.Diagnostic{
				Message: fmt.Sprintf("an inline scope of a connection manager cannot refer to a route configuration, here %q",
					e.Target),
				Notes:    []string{envoy.OnReject(e.From)},
				Help:     "write the route table here, as route_configuration, or serve the scopes over SRDS",
				Rejected: e.From.State == "",
				Upstream: "Fetching routes via RDS (route_configuration_name) is not supported with inline scoped routes.",
			})
		case e.To == nil && !p.Snapshot.Assumes(e.Kind, e.Target):
			if world := p.Snapshot.World(e.Kind, e.Source); world != graph.Open {
				p.ReportDangling(e, world, lint.Diagnostic{
					Message: fmt.Sprintf("no route configuration is named %q", e.Target),
					Notes:   []string{"Envoy accepts the scope and answers its requests with 404 (response flag NR)"},
				})
			}
		}
	}),
})
