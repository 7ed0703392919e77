package transition

import (
	"fmt"
	"sort"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// gap is a cluster that traffic needs while Envoy does not have it.
type gap struct {
	cluster *graph.Resource
	uses    []use // by severity, then in the order of the snapshot
}

// use is one reference to the cluster.
type use struct {
	edge      *graph.Edge
	traffic   *envoy.Traffic // of the snapshot with the reference
	meanwhile string         // what Envoy does without the cluster
	severity  lint.Severity
	remains   bool // the new snapshot has the reference, but no longer the cluster
}

// arriving returns the clusters that a push adds and to which traffic moves that is served before the push.
func arriving(p *lint.Pass, changes *graph.Changes) (gaps []gap) {
	before, after := envoy.TrafficOf(p.Old), envoy.TrafficOf(p.Snapshot)
	for _, change := range changes.Of(graph.Cluster) {
		if !change.Added() || mayHave(p.Old, change.Name) {
			continue
		}
		g := gap{cluster: change.New}
		for _, e := range p.Snapshot.To(change.New) {
			if !p.Snapshot.Serves(e.From) || pointedThere(p.Old, e) || !after.Continues(e, before) {
				continue
			}
			u := use{edge: e, traffic: after}
			if e.From.Kind == graph.Cluster && leftAlone(p, changes, e) {
				u.meanwhile, u.severity = fmt.Sprintf("Envoy answers the requests for %q with 503 (response flag UH)", e.From.Name), lint.Error
			}
			g.add(u)
		}
		gaps = g.appendTo(gaps)
	}
	return gaps
}

// departing returns the clusters that a push removes while remaining traffic still needs them.
func departing(p *lint.Pass, changes *graph.Changes) (gaps []gap) {
	before, after := envoy.TrafficOf(p.Old), envoy.TrafficOf(p.Snapshot)
	var remaining map[string][]*graph.Edge
	for _, change := range changes.Of(graph.Cluster) {
		if !change.Removed() || mayHave(p.Snapshot, change.Name) {
			continue
		}
		if remaining == nil {
			remaining = danglingByTarget(p.Snapshot)
		}
		g := gap{cluster: change.Old}
		for _, e := range remaining[change.Name] {
			g.add(use{edge: e, traffic: after, remains: true})
		}
		if len(g.uses) == 0 {
			for _, e := range p.Old.To(change.Old) {
				if p.Old.Serves(e.From) && before.Continues(e, after) {
					g.add(use{edge: e, traffic: before})
				}
			}
		}
		gaps = g.appendTo(gaps)
	}
	return gaps
}

// leftAlone reports whether a reference is the first member of an aggregate cluster that existed before and now has only new
// members. Envoy skips missing members, so one old member is enough.
func leftAlone(p *lint.Pass, changes *graph.Changes, e *graph.Edge) bool {
	if p.Old.Pushed(graph.Cluster, e.From.Name) == nil {
		return false
	}
	first := true
	for _, member := range p.Snapshot.From(e.From) {
		if member.Field != e.Field {
			continue
		}
		if change := changes.Find(graph.Cluster, member.Target); change == nil || !change.Added() || first && member != e {
			return false
		}
		first = false
	}
	return true
}

func (g *gap) add(u use) {
	if u.meanwhile == "" {
		u.meanwhile, u.severity = meanwhile(u.edge)
	}
	if u.meanwhile != "" {
		g.uses = append(g.uses, u)
	}
}

func (g *gap) appendTo(gaps []gap) []gap {
	if len(g.uses) == 0 {
		return gaps
	}
	sort.SliceStable(g.uses, func(i, j int) bool { return g.uses[i].severity > g.uses[j].severity })
	return append(gaps, *g)
}

// mayHave reports whether Envoy has a cluster from another source than the snapshot, or may have it by the user's assumptions.
func mayHave(s graph.View, name string) bool {
	if s.Find(graph.Cluster, graph.Anywhere, name) != nil || s.Assumes(graph.Cluster, name) {
		return true
	}
	// A snapshot with clusters is open only if the user declares it, or if clusters are fetched on demand.
	return s.Opened(graph.Cluster) || s.Partial() && s.World(graph.Cluster, graph.Anywhere) == graph.Open && len(s.All(graph.Cluster)) > 0
}

// pointedThere reports whether the same resource sent traffic to the same name before the push, so that nothing moves.
func pointedThere(old graph.View, e *graph.Edge) bool {
	from := old.Find(e.From.Kind, graph.Anywhere, e.From.Name)
	if from == nil || !old.Serves(from) {
		return false
	}
	for _, before := range old.From(from) {
		if before.Field == e.Field && before.Target == e.Target {
			return true
		}
	}
	return false
}

// danglingByTarget returns the references of serving resources to clusters that do not exist.
func danglingByTarget(s graph.View) map[string][]*graph.Edge {
	byTarget := map[string][]*graph.Edge{}
	for _, e := range s.References(graph.Cluster) {
		if e.To == nil && s.Serves(e.From) {
			byTarget[e.Target] = append(byTarget[e.Target], e)
		}
	}
	return byTarget
}

// meanwhile describes what Envoy does without the cluster, and returns the severity.
func meanwhile(e *graph.Edge) (string, lint.Severity) {
	message, impact := envoy.Meanwhile(e)
	switch impact {
	case envoy.TrafficFails:
		return message, lint.Error
	case envoy.Uncertain:
		return message, lint.Warning
	}
	return message, lint.Info
}
