package transition

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rename-cluster",
	Severity: lint.Warning,
	Summary:  "a cluster that traffic uses gets another name",
	Links: []string{
		"https://github.com/kumahq/kuma/issues/4556",
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#eventual-consistency-considerations",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		renamed := renames(p, changes)
		if len(renamed.to) == 0 {
			return
		}
		said := map[string]bool{}
		for _, g := range arriving(p, changes) {
			if before := renamed.to[g.cluster.Name]; before != nil {
				said[before.Name] = true
				reportRename(p, g, before, g.cluster)
			}
		}
		for _, g := range departing(p, changes) {
			if after := renamed.from[g.cluster.Name]; after != nil && !said[g.cluster.Name] {
				reportRename(p, g, g.cluster, after)
			}
		}
	}),
})

func reportRename(p *lint.Pass, g gap, before, after *graph.Resource) {
	first := g.uses[0]
	notes := []string{"to Envoy these are two clusters: until it has the new one, and once the old one is removed, " + first.meanwhile}
	if waits := warming(after); waits != "" {
		notes = append(notes, fmt.Sprintf("%q warms first, which waits for %s", after.Name, waits))
	}
	p.ReportEdge(first.edge, lint.Diagnostic{
		Severity: min(p.Rule.Severity, first.severity),
		Message: fmt.Sprintf("cluster %q is renamed to %q while still in use: %s",
			before.Name, after.Name, whose(first.traffic, first.edge)),
		Notes: append(notes, placesMore(len(g.uses)-1)...),
		Help: "add the new name and wait until Envoy ACKs CDS, then push the routes, then remove the old name: " +
			"`xdslint plan` gives the order",
		Related: []lint.Related{
			lint.RelatedTo(before.At().Field("name"), "the old name"),
			lint.RelatedTo(after.At().Field("name"), "the new name, with the same settings and endpoints"),
		},
	})
}

// renaming pairs removed clusters with added ones that differ only in their name.
type renaming struct {
	from map[string]*graph.Resource // from the old name to the new cluster
	to   map[string]*graph.Resource // from the new name to the old cluster
}

func renames(p *lint.Pass, changes *graph.Changes) renaming {
	r := renaming{map[string]*graph.Resource{}, map[string]*graph.Resource{}}
	gone := map[string][]*graph.Resource{}
	for _, change := range changes.Of(graph.Cluster) {
		if change.Removed() {
			if key := nameless(p.Old, change.Old); key != "" {
				gone[key] = append(gone[key], change.Old)
			}
		}
	}
	if len(gone) == 0 {
		return r
	}
	for _, change := range changes.Of(graph.Cluster) {
		if !change.Added() {
			continue
		}
		if key := nameless(p.Snapshot, change.New); len(gone[key]) > 0 {
			before := gone[key][0]
			gone[key] = gone[key][1:]
			r.from[before.Name], r.to[change.Name] = change.New, before
		}
	}
	return r
}

// nameless encodes a cluster without its name; empty if it has no endpoints by which it could be recognised.
func nameless(s graph.View, r *graph.Resource) string {
	cla, holder := endpointsOf(s, r)
	if envoy.CountEndpoints(cla) == 0 {
		return ""
	}
	c, ok := r.CanonicalOf(r.Message).(*clusterv3.Cluster)
	assignment, isAssignment := holder.CanonicalOf(cla).(*endpointv3.ClusterLoadAssignment)
	if !ok || !isAssignment {
		return ""
	}
	c.Name, c.AltStatName, c.LoadAssignment, assignment.ClusterName = "", "", nil, ""
	if c.GetEdsClusterConfig() != nil {
		c.EdsClusterConfig.ServiceName = ""
	}
	options := proto.MarshalOptions{AllowPartial: true, Deterministic: true}
	settings, err := options.Marshal(c)
	endpoints, err2 := options.Marshal(assignment)
	if err != nil || err2 != nil {
		return ""
	}
	return string(settings) + "\x00" + string(endpoints)
}
