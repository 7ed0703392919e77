package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "subset-changes-with-endpoints",
	Severity: lint.Warning,
	Summary:  "requests move to another subset of endpoints while the endpoints change",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/subsets"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, c := range changes.Of(graph.ClusterLoadAssignment) {
			if !c.Changed() {
				continue
			}
			moves := envoy.SubsetMovesOf(p.Old, p.Snapshot, c)
			switch {
			case len(moves.Leave) > 0:
				reportSubset(p, c, moves.Leave[0], "no endpoint of cluster %q has the subset that %s %q selects until it changes too")
			case len(moves.Come) > 0 && !p.Push.Transport.ADS():
				reportSubset(p, c, moves.Come[0], "no endpoint of cluster %q may have the subset yet that %s %q selects")
			}
		}
	}),
})

func reportSubset(p *lint.Pass, c *graph.Change, s envoy.Subset, message string) {
	p.Report(c.New.At().Field("endpoints").Key(), lint.Diagnostic{
		Message: fmt.Sprintf(message, s.Edge.Target, spoken(s.Edge.From.Kind), s.Edge.From.Name),
		Notes: []string{"endpoints and routes come in two responses: in between, Envoy answers the requests with 503 (response flag UH), since " +
			"fallback_policy is NO_FALLBACK"},
		Help: "push the endpoints of both subsets first, then the routes, then remove the endpoints of the old subset: `xdslint plan` does, " +
			"unless both subsets have the same addresses",
		Related: []lint.Related{lint.RelatedTo(s.Edge.At(), "these requests select the endpoints")},
	})
}
