package transition

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// crowd is the number of resources from which on the removal of half of them is suspicious.
const crowd = 10

var _ = Rules.Add(&lint.Rule{
	Name:     "mass-removal",
	Severity: lint.Warning,
	Summary:  "one push removes all listeners, clusters or virtual hosts, or more than half of many",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#deleting-resources",
		"https://github.com/envoyproxy/go-control-plane/blob/main/pkg/server/stream/v3/subscription.go",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		vanishing(p, changes, graph.Listener, "new connections fail (connection refused), and open ones drain")
		if !movedAway(p, changes) {
			vanishing(p, changes, graph.Cluster, "it answers requests for them with 503 (response flag NC)")
		}
		if slices.ContainsFunc(changes.All, mayHoldHosts) {
			vanishingHosts(p)
		}
	}),
})

func vanishing(p *lint.Pass, changes *graph.Changes, kind graph.Kind, meanwhile string) {
	var first *graph.Resource
	for _, change := range changes.Of(kind) {
		if change.Removed() && p.Old.Serves(change.Old) {
			first = change.Old
			break
		}
	}
	if first == nil {
		return
	}
	if had, has := pushed(p.Old, kind), pushed(p.Snapshot, kind); isMass(had, has) {
		p.ReportResource(first, lint.Diagnostic{
			Message: loss(had, has, spoken(kind)),
			Notes:   []string{"Envoy removes all resources that are no longer sent: " + meanwhile},
			Help:    "check whether the new snapshot is complete; if so, remove them in steps",
		})
	}
}

func pushed(s graph.View, kind graph.Kind) (n int) {
	for _, r := range s.All(kind) {
		if r.Delivery == graph.OverXDS {
			n++
		}
	}
	return n
}

// movedAway reports whether no cluster is left because all traffic uses others, such as those of the bootstrap.
func movedAway(p *lint.Pass, changes *graph.Changes) bool {
	if pushed(p.Snapshot, graph.Cluster) > 0 {
		return false
	}
	moved := false
	for _, e := range p.Snapshot.References(graph.Cluster) {
		if e.From.Kind == graph.Bootstrap || !p.Snapshot.Serves(e.From) {
			continue
		}
		if change := changes.Find(graph.Cluster, e.Target); change != nil && change.Removed() {
			return false
		}
		moved = true
	}
	return moved
}

// mayHoldHosts reports whether the number of virtual hosts can depend on a change.
func mayHoldHosts(change *graph.Change) bool {
	return change.Kind != graph.Cluster && change.Kind != graph.ClusterLoadAssignment && change.Kind != graph.Secret
}

func vanishingHosts(p *lint.Pass) {
	before, after := hostsServed(p.Old), hostsServed(p.Snapshot)
	if !isMass(len(before), len(after)) || !tablesComplete(p.Snapshot) {
		return
	}
	names := map[string]bool{}
	for _, at := range after {
		names[graph.NameOf(at.Message)] = true
	}
	for _, at := range before {
		if name := graph.NameOf(at.Message); !names[name] {
			p.Report(at.At().Field("name"), lint.Diagnostic{
				Message: loss(len(before), len(after), "virtual host"),
				Notes:   []string{"Envoy then answers requests for their domains with 404 (response flag NR)"},
				Help:    "check whether the new snapshot is complete; if so, remove them in steps",
			})
			return
		}
	}
}

// hostsServed lists the virtual hosts that traffic can reach.
func hostsServed(s graph.View) (all []*graph.Place) {
	for _, r := range s.All() {
		if r.Kind == graph.Cluster || !s.Serves(r) {
			continue
		}
		r.Walk(func(at *graph.Place) {
			if _, ok := at.Message.Interface().(*routev3.VirtualHost); ok {
				all = append(all, at)
			}
		})
	}
	return all
}

// tablesComplete reports whether the snapshot has route configurations for traffic, and all that are referred to: Envoy ignores
// the removal of one. If all listeners are removed, that is the finding.
func tablesComplete(s graph.View) bool {
	for _, e := range s.References(graph.RouteConfiguration) {
		if e.To == nil && s.Serves(e.From) {
			return false
		}
	}
	for _, r := range s.All() {
		served := false
		r.Walk(func(at *graph.Place) {
			_, isTable := at.Message.Interface().(*routev3.RouteConfiguration)
			served = served || isTable && s.Serves(r)
		})
		if served {
			return true
		}
	}
	return false
}

func isMass(had, has int) bool { return had > 0 && has == 0 || had >= crowd && 2*has < had }

func loss(had, has int, what string) string {
	switch {
	case has > 0:
		return fmt.Sprintf("one push removes %d of %d %ss, including this one", had-has, had, what)
	case had == 1:
		return fmt.Sprintf("the push removes the only %s", what)
	}
	return fmt.Sprintf("one push removes all %d %ss", had, what)
}
