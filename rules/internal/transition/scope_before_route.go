package transition

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "scope-before-route",
	Severity: lint.Warning,
	Summary:  "a scope switches to a route configuration that Envoy does not have yet",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/rds#scoped-rds-stats",
		"ScopedRdsConfigSubscription::addOrUpdateScopes (source/common/router/scoped_rds.cc)",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		former := map[string]*graph.Resource{}
		for _, r := range slices.Backward(p.Old.All(graph.ScopedRouteConfiguration)) {
			former[envoy.ScopeKey(r)] = r
		}
		for _, change := range changes.Of(graph.ScopedRouteConfiguration) {
			if change.Removed() || !p.Snapshot.Serves(change.New) {
				continue
			}
			scope, ok := change.New.Message.(*routev3.ScopedRouteConfiguration)
			before := former[envoy.ScopeKey(change.New)]
			if !ok || scope.GetOnDemand() || before == nil || !p.Old.Serves(before) {
				continue
			}
			for _, e := range p.Snapshot.From(change.New) {
				if e.Kind == graph.RouteConfiguration && e.To != nil && (!subscribed(p.Old, e.To) || released(p, changes, e.To)) {
					reportScope(p, e, before)
				}
			}
		}
	}),
})

// subscribed reports whether Envoy requests a resource of that name.
func subscribed(old graph.View, r *graph.Resource) bool {
	before := old.Find(r.Kind, graph.Anywhere, r.Name)
	return before != nil && old.Serves(before)
}

// released reports whether all that had a route configuration go to other ones: Envoy then drops it and requests it again, and a
// server that has sent it does not send it again.
func released(p *lint.Pass, changes *graph.Changes, table *graph.Resource) bool {
	for _, e := range p.Old.To(p.Old.Find(table.Kind, graph.Anywhere, table.Name)) {
		user := changes.Find(e.From.Kind, e.From.Name)
		if user == nil || user.Removed() || slices.ContainsFunc(p.Snapshot.From(user.New), func(is *graph.Edge) bool { return is.To == table }) {
			return false
		}
	}
	return true
}

func reportScope(p *lint.Pass, e *graph.Edge, before *graph.Resource) {
	p.ReportEdge(e, lint.Diagnostic{
		Message: fmt.Sprintf("scope %q switches to route configuration %q before Envoy has that", e.From.Name, e.Target),
		Notes: []string{"until it has the route configuration, Envoy answers the requests of the scope with 404 (response flag NR); if it had it and " +
			"dropped it, a server that compares contents does not send it again"},
		Help:    "first make Envoy fetch the route configuration, with a scope whose key no request has: `xdslint plan` gives the order",
		Related: []lint.Related{lint.RelatedTo(before.At().Field("route_configuration_name"), "its requests use this before the push")},
	})
}
