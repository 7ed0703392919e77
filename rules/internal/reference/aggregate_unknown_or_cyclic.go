package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "aggregate-unknown-or-cyclic",
	Severity: lint.Warning,
	Summary:  "an aggregate or composite cluster has a member that does not exist, or is its own member",
	Links: []string{
		"AggregateClusterLoadBalancer (source/extensions/clusters/aggregate/cluster.cc)",
		"https://github.com/grpc/proposal/blob/master/A37-xds-aggregate-and-logical-dns-clusters.md",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		none := hostless(p)
		members := map[*graph.Resource][]*graph.Edge{}
		for _, e := range p.Snapshot.ReferencesIn(envoy.MemberFields...) {
			if e.To == nil {
				unknownMember(p, e, none[e.From])
			} else if e.From.Kind == graph.Cluster {
				members[e.From] = append(members[e.From], e)
			}
		}
		cycles(p, members, none)
	}),
})

func unknownMember(p *lint.Pass, e *graph.Edge, hostless bool) {
	world := p.Snapshot.World(graph.Cluster, e.Source)
	if world == graph.Open || p.Snapshot.Assumes(graph.Cluster, e.Target) {
		return
	}
	d := lint.Diagnostic{Message: fmt.Sprintf("no cluster is named %q", e.Target), Notes: []string{"Envoy skips it, and uses it as soon as it is added"}}
	if hostless {
		d.Severity, d.Notes = lint.Error, []string{fmt.Sprintf("no member of cluster %q has a host: Envoy answers 503 (response flag UH)", e.From.Name)}
	}
	p.ReportDangling(e, world, d)
}

// cycles reports each edge that closes a cycle, once. A cycle of clusters that have no host is an error.
func cycles(p *lint.Pass, members map[*graph.Resource][]*graph.Edge, none map[*graph.Resource]bool) {
	const (
		open = iota + 1
		done
	)
	state := map[*graph.Resource]int{}
	var path []string
	var visit func(r *graph.Resource)
	visit = func(r *graph.Resource) {
		state[r] = open
		path = append(path, r.Name)
		for _, e := range members[r] {
			switch state[e.To] {
			case open:
				ring := append(slices.Clone(path[slices.Index(path, e.To.Name):]), e.To.Name)
				d := lint.Diagnostic{
					Message: fmt.Sprintf("cluster %q is its own member", e.To.Name),
					Notes:   []string{"the cycle: " + strings.Join(ring, " → "), "Envoy accepts it; gRPC clients reject it"},
					Help:    "remove one of these members",
				}
				if none[e.From] {
					d.Severity = lint.Error
					d.Notes = append(d.Notes, "no cluster of the cycle has a host: Envoy answers 503 (response flag UH)")
				}
				p.ReportEdge(e, d)
			case 0:
				visit(e.To)
			}
		}
		path = path[:len(path)-1]
		state[r] = done
	}
	for _, r := range p.Snapshot.All(graph.Cluster) {
		if state[r] == 0 && len(members[r]) > 0 {
			visit(r)
		}
	}
}
