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
	Summary:  "a cluster is removed while traffic still uses it",
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
	for _, u := range g.uses { // draining connections fail for the longest time
		if u.severity == first.severity && !u.remains && draining(p, changes, u.edge) {
			first, drains = u, true
			break
		}
	}
	d := lint.Diagnostic{
		Severity: first.severity,
		Message:  fmt.Sprintf("cluster %q is removed while still in use: %s", g.cluster.Name, whose(first.traffic, first.edge)),
		Help: "remove the cluster in a separate push, after Envoy has ACKed the routes that no longer use it: " +
			"`xdslint plan` gives the order",
		Related: []lint.Related{lint.RelatedTo(g.cluster.At().Field("name"), "the new snapshot does not have it")},
	}
	switch {
	case first.remains && p.Push.Partial:
		d.Notes = []string{first.meanwhile + ", until the reference to the cluster is removed"}
	case first.remains:
		d.Notes = []string{first.meanwhile + ", permanently: the new snapshot still refers to the cluster"}
		d.Help = "keep the cluster, or remove this reference first"
	case drains:
		d.Notes = []string{first.meanwhile + ": connections from before the push keep the old routes while they drain, " +
			"up to the drain time (--drain-time-s, 600 s by default)"}
		d.Help = "keep the cluster until the draining connections are closed (Envoy then no longer requests the old route " +
			"configuration): `xdslint plan` gives the order"
	default:
		d.Notes = []string{"between CDS and the rest of the push, " + first.meanwhile}
	}
	d.Notes = append(d.Notes, placesMore(len(g.uses)-1)...)
	p.ReportEdge(first.edge, d)
}

// draining reports whether connections still use the old reference after the push, while they drain.
func draining(p *lint.Pass, changes *graph.Changes, e *graph.Edge) bool {
	if e.From.Kind == graph.Listener {
		change := changes.Find(graph.Listener, e.From.Name)
		return change != nil && envoy.DrainOf(change).Covers(e.Path)
	}
	if after := p.Snapshot.Pushed(e.From.Kind, e.From.Name); after != nil && p.Snapshot.Serves(after) {
		return false // open connections get the new routes too
	}
	for _, above := range p.Old.To(e.From) {
		if draining(p, changes, above) {
			return true
		}
	}
	return false
}
