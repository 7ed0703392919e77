package reference

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// referrers are the kinds that can name a resource of a kind. If one of them is open or was not fully decoded, a resource
// without references may still have some.
var referrers = map[graph.Kind][]graph.Kind{
	graph.RouteConfiguration:    {graph.Listener, graph.ScopedRouteConfiguration},
	graph.ClusterLoadAssignment: {graph.Cluster},
	graph.Secret:                {graph.Listener, graph.Cluster, graph.RouteConfiguration, graph.ExtensionConfig},
	graph.ExtensionConfig:       {graph.Listener, graph.Cluster},
}

var _ = Rules.Add(&lint.Rule{
	Name:     "orphan-resource",
	Severity: lint.Warning,
	Summary:  "nothing refers to a route configuration, cluster load assignment, secret or extension config",
	Links:    []string{"https://github.com/kumahq/kuma/issues/12098"},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		orphans := unnamed(p.Snapshot)
		if len(orphans) == 0 {
			return
		}
		blind, onDemand := blindSpots(p.Snapshot)
		for _, r := range orphans {
			if onDemand[r.Kind] || !allClosed(p.Snapshot, referrers[r.Kind], blind) {
				continue
			}
			p.ReportResource(r, lint.Diagnostic{
				Message: fmt.Sprintf("nothing refers to the %s %q", r.Kind, r.Name),
				Notes:   []string{"envoy never requests it"},
				Help:    "remove it, or refer to it",
			})
		}
	}),
})

func unnamed(s graph.View) []*graph.Resource {
	named := map[*graph.Resource]bool{}
	for _, e := range s.References() {
		if e.To != nil && e.To != e.From {
			named[e.To] = true
		}
	}
	var orphans []*graph.Resource
	for _, r := range s.All() {
		if r.State != "" { // a dump holds only what Envoy requested
			return nil
		}
		if referrers[r.Kind] != nil && !named[r] && r.Delivery != graph.FromBootstrap && s.Find(r.Kind, r.Source, r.Name) == r {
			orphans = append(orphans, r)
		}
	}
	return orphans
}

func allClosed(s graph.View, kinds []graph.Kind, blind map[graph.Kind]bool) bool {
	for _, kind := range kinds {
		switch {
		case blind[kind]:
			return false
		case (kind == graph.ScopedRouteConfiguration || kind == graph.ExtensionConfig || kind == graph.RouteConfiguration) && len(s.All(kind)) == 0:
			// Envoy requests them only if a listener names them; other rules report those that are missing.
		case s.World(kind, graph.Anywhere) != graph.Closed:
			return false
		}
	}
	return true
}

// blindSpots returns the kinds with parts that could not be decoded, and the kinds whose names Envoy derives on demand.
func blindSpots(s graph.View) (blind, onDemand map[graph.Kind]bool) {
	blind, onDemand = map[graph.Kind]bool{}, map[graph.Kind]bool{}
	for _, r := range s.All() {
		if r.Message == nil || len(r.Problems) > 0 {
			blind[r.Kind] = true
		}
		r.Walk(func(at *graph.Place) {
			if at.Opaque {
				blind[r.Kind] = true
			}
			if at.Message.Descriptor().FullName() == "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config" {
				onDemand[graph.Secret] = true
			}
		})
	}
	return blind, onDemand
}
