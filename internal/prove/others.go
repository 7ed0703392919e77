package prove

import (
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
)

const bootstrapPrefix = "envoy.config.bootstrap.v3.Bootstrap."

// bootstrapNames are the fields of a bootstrap that are compared elsewhere, or that requests do not notice.
var bootstrapNames = []string{
	bootstrapPrefix + "static_resources", bootstrapPrefix + "dynamic_resources", bootstrapPrefix + "admin", bootstrapPrefix + "node",
	bootstrapPrefix + "stats_sinks", bootstrapPrefix + "stats_config", bootstrapPrefix + "stats_flush_interval",
}

// bootstraps compares what applies to all listeners. A side without a bootstrap is what is pushed to a data plane that has one.
func (p *prover) bootstraps() {
	a, from := p.old.view.Bootstrap()
	b, to := p.now.view.Bootstrap()
	switch {
	case a != nil && b != nil:
		p.fields("bootstrap", from, to, a, b, bootstrapNames...)
		var skipped []string
		if !p.sees(nodeName) { // load balancing looks at the locality
			skipped = without(a.GetNode(), "locality")
		}
		p.fields("node", from, to, a.GetNode(), b.GetNode(), skipped...)
	case a.GetLayeredRuntime() != nil || b.GetLayeredRuntime() != nil:
		p.undecided("bootstrap: only one configuration has a runtime")
	}
}

// compared are the kinds of resources that the other steps compare.
var compared = []graph.Kind{graph.Listener, graph.RouteConfiguration, graph.VirtualHost, graph.ScopedRouteConfiguration, graph.ClusterLoadAssignment}

// others compares the resources to which listeners and routes refer otherwise, such as secrets and the clusters of filters. What only one side refers to
// is a difference of the resource that has the reference. What neither side has is the same if its name is.
func (p *prover) others() {
	named := []graph.Kind{graph.Runtime} // the kinds of which all resources count
	if p.old.visible.calls || p.now.visible.calls {
		named = append(named, graph.Cluster)
	}
	olds, news := p.old.others(named), p.now.others(named)
	all := maps.Clone(olds)
	maps.Copy(all, news)
	for id := range all {
		a, before := olds[id]
		b, after := news[id]
		switch {
		case before != after && !slices.Contains(named, id.kind), a == nil && b == nil:
		case b == nil:
			p.undecided(id.String() + ": only OLD has it")
		case a == nil:
			p.undecided(id.String() + ": only NEW has it")
		case p.old.referred(a) != p.now.referred(b):
			p.undecided(id.String() + " differs")
		}
	}
}

// identifier names a resource.
type identifier struct {
	kind graph.Kind
	name string
}

func (i identifier) String() string {
	return strings.ReplaceAll(string(i.kind), "_", " ") + " " + i.name
}

// others returns the resources that listeners need, but for those that the other steps compare, and all of some kinds. Those that the input does not have
// are nil.
func (s *side) others(named []graph.Kind) map[identifier]*graph.Resource {
	found := map[identifier]*graph.Resource{}
	seen := map[*graph.Resource]bool{}
	var follow func(r *graph.Resource)
	note := func(e *graph.Edge) {
		if id := (identifier{e.Kind, e.Target}); found[id] == nil {
			found[id] = e.To
		}
		if e.To != nil && e.Kind != graph.Cluster { // its identity has what it refers to
			follow(e.To)
		}
	}
	follow = func(r *graph.Resource) {
		if seen[r] {
			return
		}
		seen[r] = true
		for _, e := range s.view.From(r) {
			switch {
			case e.To == r || e.Kind == graph.Cluster && slices.Contains(inRoutes, string(e.Field)):
			case !slices.Contains(compared, e.Kind):
				note(e)
			case e.To != nil:
				follow(e.To)
			}
		}
	}
	for _, l := range s.listeners() {
		follow(l.Resource)
	}
	if _, bootstrap := s.view.Bootstrap(); bootstrap != nil {
		for _, e := range s.view.From(bootstrap) {
			if e.Kind == graph.Runtime || e.Field == localCluster {
				note(e)
			}
		}
	}
	for _, r := range s.view.All(named...) {
		found[identifier{r.Kind, r.Name}] = r
	}
	return found
}

// localCluster names the cluster of the Envoys themselves, which load balancing looks at.
const localCluster = "envoy.config.bootstrap.v3.ClusterManager.local_cluster_name"

// inRoutes are the fields of routes that name clusters.
var inRoutes = []string{
	"envoy.config.route.v3.RouteAction.cluster", "envoy.config.route.v3.WeightedCluster.ClusterWeight.name",
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster",
}
