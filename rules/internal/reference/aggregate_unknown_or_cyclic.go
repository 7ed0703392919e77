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
		eachSuspect(p, envoy.MemberCluster, func(b *envoy.Boot, e *graph.Edge) {
			judgeCluster(p, b, e, "envoy skips it, and uses it as soon as it is added")
		})
		members := map[*graph.Resource][]*graph.Edge{}
		for _, e := range p.Snapshot.References(graph.Cluster) {
			if e.To != nil && e.From.Kind == graph.Cluster && envoy.RoleOf(e) == envoy.MemberCluster {
				members[e.From] = append(members[e.From], e)
			}
		}
		cycles(p, members)
	}),
})

// cycles reports each edge that closes a cycle, once.
func cycles(p *lint.Pass, members map[*graph.Resource][]*graph.Edge) {
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
				p.ReportEdge(e, lint.Diagnostic{
					Message: fmt.Sprintf("cluster %q is its own member", e.To.Name),
					Notes:   []string{"the cycle: " + strings.Join(ring, " → "), "envoy accepts it; gRPC clients reject it"},
					Help:    "remove one of these members",
				})
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
