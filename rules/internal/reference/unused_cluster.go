package reference

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unused-cluster",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info, lint.Mesh: lint.Info, lint.Internal: lint.Info},
	Summary:  "nothing refers to a cluster, and Envoy resolves and checks its hosts all the same",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/cluster_manager"},
	Run: lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if p.Snapshot.Partial() || len(p.Snapshot.All(graph.Listener)) == 0 || len(p.Snapshot.To(r)) > 0 || !allClosed(p.Snapshot, clusterReferrers) {
			return
		}
		p.ReportResource(r, lint.Diagnostic{
			Message: fmt.Sprintf("nothing in this configuration refers to the cluster %q", r.Name),
			Notes:   []string{"Envoy creates it with its metrics, and resolves and checks its hosts as for any other"},
			Help:    "remove it, unless a script, a plugin or a header of a request names it",
		})
	}, graph.Cluster),
})

// clusterReferrers are the kinds that can name a cluster.
var clusterReferrers = []graph.Kind{graph.Listener, graph.RouteConfiguration, graph.ScopedRouteConfiguration, graph.Cluster, graph.ExtensionConfig}
