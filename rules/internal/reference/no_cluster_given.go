package reference

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// shownNames is how many names a message lists.
const shownNames = 50

var _ = Rules.Add(&lint.Rule{
	Name:     "no-cluster-given",
	Severity: lint.Warning,
	Summary:  "resources refer to clusters, but the input has no cluster",
	Run:      lint.ForSnapshot(noClusterGiven),
})

func noClusterGiven(p *lint.Pass) {
	s := p.Snapshot
	if !s.Partial() || len(s.All(graph.Cluster)) > 0 || s.Opened(graph.Cluster) || s.World(graph.Cluster, graph.Anywhere) != graph.Open {
		return
	}
	var first *graph.Edge
	var names []string
	seen := map[string]bool{}
	for _, e := range s.References(graph.Cluster) {
		if e.To != nil || seen[e.Target] || ofServer(e) || s.Assumes(graph.Cluster, e.Target) {
			continue
		}
		if first == nil {
			first = e
		}
		seen[e.Target] = true
		names = append(names, e.Target)
	}
	if first == nil {
		return
	}
	p.ReportEdge(first, lint.Diagnostic{
		Message: "the input has no cluster, so these references were not checked: " + words.Few(words.Quoted(names), shownNames),
		Notes:   []string{"Envoy answers a request for a cluster that it does not have with 503 (response flag NC)"},
		Help:    "lint the clusters together with these resources, or declare that they are elsewhere: --open cluster",
	})
}

// ofServer reports whether a reference is to the cluster of an xDS server, which is in the bootstrap.
func ofServer(e *graph.Edge) bool {
	return e.Place.Enclosing("envoy.config.core.v3.ConfigSource") != nil
}
