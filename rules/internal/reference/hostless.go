package reference

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

const fieldAggregate = "envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters"

// hostless returns the aggregate clusters that traffic can reach and that certainly have no host: none of their members
// exists, or all of them are aggregate clusters that have no host either.
func hostless(p *lint.Pass) map[*graph.Resource]bool {
	none := map[*graph.Resource]bool{}
	var hosting []*graph.Resource // clusters that may have hosts, and whose users are still to be looked at
	for _, e := range p.Snapshot.ReferencesIn(fieldAggregate) {
		none[e.From] = true
	}
	for _, e := range p.Snapshot.ReferencesIn(fieldAggregate) {
		if none[e.To] {
			continue
		}
		if e.To != nil {
			hosting = append(hosting, e.To)
		} else if p.Snapshot.Assumes(graph.Cluster, e.Target) || p.Snapshot.World(graph.Cluster, e.Source) != graph.Closed {
			delete(none, e.From)
			hosting = append(hosting, e.From)
		}
	}
	for ; len(hosting) > 0; hosting = hosting[1:] {
		for _, e := range p.Snapshot.To(hosting[0]) {
			if e.Field == fieldAggregate && none[e.From] {
				delete(none, e.From)
				hosting = append(hosting, e.From)
			}
		}
	}
	for r := range none {
		if !p.Snapshot.Serves(r) {
			delete(none, r)
		}
	}
	return none
}
