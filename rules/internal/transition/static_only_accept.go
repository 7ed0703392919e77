package transition

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "static-only-accept",
	Severity: lint.Info,
	Summary:  "a route table moves from the listener to RDS, where Envoy no longer rejects unknown clusters",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route.proto#envoy-v3-api-field-config-route-v3-routeconfiguration-validate-clusters",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Listener) {
			if change.Changed() {
				movedTables(p, change)
			}
		}
	}),
})

func movedTables(p *lint.Pass, change *graph.Change) {
	checked := map[string]*graph.Place{} // by the path of the connection manager
	change.Old.Walk(func(at *graph.Place) {
		if m, ok := at.Message.Interface().(*hcmv3.HttpConnectionManager); ok && checks(m.GetRouteConfig(), true) {
			checked[at.Path.String()] = at
		}
	})
	for _, e := range p.Snapshot.From(change.New) {
		manager := e.Place.Enclosing("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager")
		if e.Kind != graph.RouteConfiguration || e.To == nil || manager == nil {
			continue
		}
		table, _ := e.To.Message.(*routev3.RouteConfiguration)
		before := checked[manager.Path.String()]
		if before == nil || checks(table, false) {
			continue
		}
		p.ReportEdge(e, lint.Diagnostic{
			Message: fmt.Sprintf("the routes of listener %q move to RDS: Envoy no longer rejects those to clusters that do not exist",
				change.Name),
			Notes:   []string{"Envoy then answers requests for such routes with 503 (response flag NC)"},
			Help:    fmt.Sprintf("to make Envoy reject them, set validate_clusters: true in route configuration %q", e.Target),
			Related: []lint.Related{lint.RelatedTo(before.At().Field("route_config").Key(), "the route table before the push")},
		})
	}
}

// checks reports whether Envoy rejects a route table for missing clusters.
func checks(table *routev3.RouteConfiguration, byDefault bool) bool {
	if v := table.GetValidateClusters(); v != nil {
		return v.GetValue()
	}
	return table != nil && byDefault
}
