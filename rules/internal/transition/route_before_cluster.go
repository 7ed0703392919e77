package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-before-cluster",
	Severity: lint.Error,
	Summary:  "traffic moves to a cluster that is new in the same push",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations",
		"https://github.com/envoyproxy/envoy/issues/13910", "https://github.com/kgateway-dev/kgateway/pull/14372",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		renamed := renames(p, changes)
		for _, g := range arriving(p, changes) {
			if renamed.to[g.cluster.Name] != nil {
				continue // transition/rename-cluster reports it
			}
			first := g.uses[0]
			notes := []string{"until it has the cluster, " + first.meanwhile, howLong(g.cluster)}
			p.ReportEdge(first.edge, lint.Diagnostic{
				Severity: first.severity,
				Message:  fmt.Sprintf("cluster %q is used before Envoy has it: %s", g.cluster.Name, whose(first.traffic, first.edge)),
				Notes:    append(notes, placesMore(len(g.uses)-1)...),
				Help:     order(p),
				Related:  []lint.Related{lint.RelatedTo(g.cluster.At().Field("name"), "new in this push")},
			})
		}
	}),
})

// howLong describes how long Envoy does not have a new cluster.
func howLong(cluster *graph.Resource) string {
	if waits := warming(cluster); waits != "" {
		return "the cluster first warms, which waits for " + waits
	}
	return "that lasts about a round trip to the control plane"
}
