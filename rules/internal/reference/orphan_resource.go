package reference

import (
	"fmt"
	"maps"
	"slices"

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
	Run: lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if !unnamed(p.Snapshot, r) || hidden(p.Snapshot, r.Kind) || !allClosed(p.Snapshot, referrers[r.Kind]) {
			return
		}
		p.ReportResource(r, lint.Diagnostic{
			Message: fmt.Sprintf("nothing refers to the %s %q", r.Kind, r.Name),
			Notes:   []string{"Envoy never requests it"},
			Help:    "remove it, or refer to it",
		})
	}, slices.Sorted(maps.Keys(referrers))...),
})

// unnamed reports whether nothing refers to a resource that is delivered for its name. A dump holds only what Envoy requested.
func unnamed(s graph.View, r *graph.Resource) bool {
	return !s.Dumped() && r.Delivery != graph.FromBootstrap && len(s.To(r)) == 0 && s.Find(r.Kind, r.Source, r.Name) == r
}

// hidden reports whether Envoy derives names of the kind on demand.
func hidden(s graph.View, kind graph.Kind) bool {
	return kind == graph.Secret && len(s.Places("envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config")) > 0
}

// allClosed reports whether all references from resources of the kinds are known.
func allClosed(s graph.View, kinds []graph.Kind) bool {
	for _, kind := range kinds {
		switch {
		case s.Unread(kind):
			return false
		case (kind == graph.ScopedRouteConfiguration || kind == graph.ExtensionConfig || kind == graph.RouteConfiguration) && len(s.All(kind)) == 0:
			// Envoy requests them only if a listener names them; other rules report those that are missing.
		case s.World(kind, graph.Anywhere) != graph.Closed:
			return false
		}
	}
	return true
}
