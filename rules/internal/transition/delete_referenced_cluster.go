package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "delete-referenced-cluster",
	Severity: lint.Error,
	Summary:  "a cluster goes while traffic still uses it",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations",
		"https://github.com/envoyproxy/envoy/issues/18958", "https://github.com/kumahq/kuma/issues/4556",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		renamed := renames(p, changes)
		for _, g := range departing(p, changes) {
			if renamed.from[g.cluster.Name] == nil {
				reportDeparture(p, changes, g)
			}
		}
	}),
})

func reportDeparture(p *lint.Pass, changes *graph.Changes, g gap) {
	first, drains := g.uses[0], false
	for _, u := range g.uses { // what drains suffers longest
		if u.severity == first.severity && !u.remains && draining(p, changes, u.edge) {
			first, drains = u, true
			break
		}
	}
	d := lint.Diagnostic{
		Severity: first.severity,
		Message:  fmt.Sprintf("cluster %q goes while it is in use: %s", g.cluster.Name, whose(first.traffic, first.edge)),
		Help:     "remove the cluster in a push of its own, after Envoy has ACKed the routes that leave it: `xdslint plan` gives the order",
		Related:  []lint.Related{lint.RelatedTo(g.cluster.At().Field("name"), "the new snapshot does not have it")},
	}
	switch {
	case first.remains:
		d.Notes = []string{first.meanwhile + ", for good: the new snapshot still refers to the cluster"}
		d.Help = "keep the cluster, or take this reference away first"
	case drains:
		d.Notes = []string{first.meanwhile + ": connections that were there before the push keep the old routes while they drain, " +
			"up to the drain time (--drain-time-s, 600 s by default)"}
		d.Help = "keep the cluster until what drains is gone (Envoy then no longer asks for the old route configuration): `xdslint plan` gives the order"
	default:
		d.Notes = []string{"between CDS and the rest of the push, " + first.meanwhile}
	}
	d.Notes = append(d.Notes, placesMore(len(g.uses)-1)...)
	p.ReportEdge(first.edge, d)
}

// draining tells whether connections keep the place of an old reference after the push, while they drain.
func draining(p *lint.Pass, changes *graph.Changes, e *graph.Edge) bool {
	if e.From.Kind == graph.Listener {
		change := changes.Find(graph.Listener, e.From.Name)
		return change != nil && envoy.DrainOf(change).Covers(e.Path)
	}
	if after := p.Snapshot.Pushed(e.From.Kind, e.From.Name); after != nil && p.Snapshot.Serves(after) {
		return false // old connections get the new routes too
	}
	for _, above := range p.Old.To(e.From) {
		if draining(p, changes, above) {
			return true
		}
	}
	return false
}
