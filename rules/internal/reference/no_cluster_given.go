package reference

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// fewNames is how many names a message lists.
const fewNames = 50

var _ = Rules.Add(&lint.Rule{
	Name:     "no-cluster-given",
	Severity: lint.Warning,
	Summary:  "resources refer to clusters, but the input has no cluster",
	Run:      lint.ForSnapshot(noClusterGiven),
})

func noClusterGiven(p *lint.Pass) {
	s := p.Snapshot
	if !s.Partial || len(s.All(graph.Cluster)) > 0 || s.Opened(graph.Cluster) || s.World(graph.Cluster, graph.Anywhere) != graph.Open {
		return
	}
	var first *graph.Edge
	var names []string
	seen := map[string]bool{}
	for _, e := range s.Edges {
		if e.Kind != graph.Cluster || e.To != nil || seen[e.Target] || ofServer(e) || s.Assumes(graph.Cluster, e.Target) {
			continue
		}
		if first == nil {
			first = e
		}
		seen[e.Target] = true
		names = append(names, fmt.Sprintf("%q", e.Target))
	}
	if first == nil {
		return
	}
	list := strings.Join(names, ", ")
	if len(names) > fewNames {
		list = fmt.Sprintf("%s and %d more", strings.Join(names[:fewNames], ", "), len(names)-fewNames)
	}
	p.ReportEdge(first, lint.Diagnostic{
		Message: "the input has no cluster, so these references were not checked: " + list,
		Notes:   []string{"envoy answers a request for a cluster that it does not have with 503 (response flag NC)"},
		Help:    "lint the clusters together with these resources, or declare that they are elsewhere: --open cluster",
	})
}

// ofServer reports whether a reference is to the cluster of an xDS server, which is in the bootstrap.
func ofServer(e *graph.Edge) bool {
	return e.Place.Enclosing("envoy.config.core.v3.ConfigSource") != nil
}
