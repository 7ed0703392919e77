package prove

import (
	"fmt"
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
	case a.GetLayeredRuntime() != nil || b.GetLayeredRuntime() != nil:
		p.undecided("bootstrap: only one configuration has a runtime")
	}
}

// compared are the kinds of resources that the other steps compare.
var compared = []graph.Kind{graph.Listener, graph.RouteConfiguration, graph.VirtualHost, graph.ScopedRouteConfiguration, graph.ClusterLoadAssignment}

// others compares the resources to which listeners and routes refer otherwise, such as secrets and the clusters of filters. What only one side refers to
// is a difference of the resource that has the reference.
func (p *prover) others() {
	olds, news := p.old.others(), p.now.others()
	for _, id := range slices.Sorted(maps.Keys(olds)) {
		if a, b := olds[id], news[id]; b != nil && p.old.referred(a) != p.now.referred(b) {
			p.undecided(fmt.Sprintf("%s %s differs", strings.ReplaceAll(string(a.Kind), "_", " "), a.Name))
		}
	}
}

// others returns the resources that listeners need, by kind and name, but for those that the other steps compare.
func (s *side) others() map[string]*graph.Resource {
	found := map[string]*graph.Resource{}
	seen := map[*graph.Resource]bool{}
	var follow func(r *graph.Resource)
	follow = func(r *graph.Resource) {
		if seen[r] {
			return
		}
		seen[r] = true
		for _, e := range s.view.From(r) {
			if e.To == nil || e.To == r || e.Kind == graph.Cluster && slices.Contains(inRoutes, string(e.Field)) {
				continue
			}
			if !slices.Contains(compared, e.Kind) {
				found[string(e.Kind)+" "+e.Target] = e.To
			}
			if e.Kind != graph.Cluster { // its identity has what it refers to
				follow(e.To)
			}
		}
	}
	for _, l := range s.listeners() {
		follow(l.Resource)
	}
	for _, r := range s.view.All(graph.Runtime) {
		found[string(r.Kind)+" "+r.Name] = r
	}
	return found
}

// inRoutes are the fields of routes that name clusters.
var inRoutes = []string{
	"envoy.config.route.v3.RouteAction.cluster", "envoy.config.route.v3.WeightedCluster.ClusterWeight.name",
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster",
}
