package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-takeover",
	Severity: lint.Warning,
	Summary:  "a cluster gets other requests and other endpoints in one push",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, c := range changes.Of(graph.ClusterLoadAssignment) {
			if !c.Changed() {
				continue
			}
			for _, e := range p.Snapshot.To(c.New) {
				if e.From.Kind == graph.Cluster && envoy.TakenOver(p.Old, p.Snapshot, e.From, c) {
					reportTakeover(p, c, e)
				}
			}
		}
	}),
})

func reportTakeover(p *lint.Pass, c *graph.Change, e *graph.Edge) {
	p.Report(c.New.At().Field("endpoints").Key(), lint.Diagnostic{
		Message: fmt.Sprintf("cluster %q gets the requests of other routes together with other endpoints", e.From.Name),
		Notes: []string{"endpoints and routes come in two responses: in between, the endpoints of one service answer the requests for another one; on " +
			"draining connections, this lasts until they are closed"},
		Help:    "give the endpoints to a cluster with a new name, and let the routes move to that",
		Related: []lint.Related{lint.RelatedTo(c.Old.At().Field("endpoints"), "other routes go to these endpoints before the push")},
	})
}
