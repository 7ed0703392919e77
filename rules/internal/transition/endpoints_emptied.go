package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "endpoints-emptied",
	Severity: lint.Warning,
	Summary:  "a cluster that traffic uses loses its last endpoint",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/load_balancing/panic_threshold"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		before, after := envoy.TrafficOf(p.Old), envoy.TrafficOf(p.Snapshot)
		for _, now := range touched(p, changes) {
			was := p.Old.Pushed(graph.Cluster, now.Name)
			if was == nil || now.Delivery != graph.OverXDS || !holdsEndpoints(now) {
				continue
			}
			had, _ := endpointsOf(p.Old, was)
			has, holder := endpointsOf(p.Snapshot, now)
			if has == nil || envoy.CountEndpoints(has) > 0 || envoy.CountEndpoints(had) == 0 || !inUse(p.Old, was) {
				continue
			}
			lost := emptied{cluster: now, holder: holder, had: envoy.CountEndpoints(had)}
			if e := useOf(p.Snapshot, now, func(e *graph.Edge) bool { return after.Continues(e, before) }); e != nil {
				lost.report(p, e, whose(after, e), "from this push on, until it has endpoints again", "it is still used here")
			} else if e := useOf(p.Old, was, func(e *graph.Edge) bool { return before.Continues(e, after) }); e != nil {
				until := "until Envoy has the rest of the push, whose routes no longer use the cluster"
				if draining(p, changes, e) {
					until = "on connections that keep the old routes while they drain, up to the drain time (--drain-time-s, " +
						"600 s by default)"
				}
				lost.report(p, e, whose(before, e), until, "it is used here before the push")
			}
		}
	}),
})

// emptied is a cluster that loses its last endpoint.
type emptied struct {
	cluster, holder *graph.Resource
	had             int
}

func (l emptied) report(p *lint.Pass, e *graph.Edge, who, until, used string) {
	field := "load_assignment"
	if l.holder.Kind == graph.ClusterLoadAssignment {
		field = "cluster_name"
	}
	p.Report(l.holder.At().Field(field), lint.Diagnostic{
		Message: fmt.Sprintf("cluster %q loses all its endpoints (%d) while still in use: %s", l.cluster.Name, l.had, who),
		Notes:   []string{"Envoy answers the requests with 503 (response flag UH) " + until},
		Help:    "first push the routes that no longer use the cluster, then remove its endpoints: `xdslint plan` gives the order",
		Related: []lint.Related{lint.RelatedTo(e.At(), used)},
	})
}

// inUse reports whether traffic uses a cluster.
func inUse(s graph.View, cluster *graph.Resource) bool {
	return useOf(s, cluster, func(*graph.Edge) bool { return true }) != nil
}

// useOf returns the first fitting reference of traffic to a cluster that fails when the cluster has no host. An aggregate
// cluster has other members.
func useOf(s graph.View, cluster *graph.Resource, fits func(*graph.Edge) bool) *graph.Edge {
	g := gap{}
	for _, e := range s.To(cluster) {
		if e.From.Kind != graph.Cluster && s.Serves(e.From) && fits(e) {
			g.add(use{edge: e})
		}
	}
	for _, u := range g.uses {
		if u.severity == lint.Error {
			return u.edge
		}
	}
	return nil
}
