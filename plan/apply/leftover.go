package apply

import (
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

// unused lists the route configurations to which nothing refers any more: at most connections that drain use them, and these keep what they
// have. An Envoy without such connections does not request them, and over ADS (SotW) the cache would then send it no route configuration.
func unused(s *graph.Snapshot) []plan.Resource {
	var all []plan.Resource
	if len(s.All(graph.Listener)) == 0 { // they are served elsewhere
		return nil
	}
	for _, table := range s.All(graph.RouteConfiguration) {
		if len(s.To(table)) == 0 {
			all = append(all, plan.Resource{Kind: table.Kind, Name: table.Name})
		}
	}
	return all
}

// leftovers lists the drains that may be under way when a control plane starts again: a cluster to which no listener leads was perhaps kept
// for connections that drain.
func (r *run) leftovers(s *graph.Snapshot) []drain {
	idle := map[string]bool{}
	for _, c := range s.All(graph.Cluster) {
		idle[c.Name] = !s.Serves(c)
	}
	drainTime := r.Plan.DrainTime
	if drainTime == 0 {
		drainTime = plan.DefaultDrainTime
	}
	listeners := s.Names(graph.Listener)
	var all []drain
	add := func(w plan.Wait, from []*graph.Resource) {
		d := drain{Drain: plan.Drain{Wait: w}, listeners: listeners, until: time.Now().Add(w.Timeout), phase: -1}
		for _, c := range reached(s, from) {
			if c.Kind == graph.Cluster && idle[c.Name] {
				d.Needs = append(d.Needs, plan.Resource{Kind: c.Kind, Name: c.Name})
				delete(idle, c.Name)
			}
		}
		if len(d.Needs) > 0 {
			all = append(all, d)
		}
	}
	for _, table := range unused(s) {
		timeout := drainTime + r.ackTimeout()
		add(plan.Wait{For: plan.Unsubscribe, Kind: table.Kind, Names: []string{table.Name}, Timeout: timeout},
			[]*graph.Resource{s.Pushed(table.Kind, table.Name)})
	}
	if len(listeners) > 0 {
		add(plan.Wait{For: plan.Drained, Kind: graph.Listener, Names: listeners, Timeout: drainTime}, s.All(graph.Cluster))
	}
	return all
}

// reached lists resources and all that they lead to.
func reached(s *graph.Snapshot, from []*graph.Resource) []*graph.Resource {
	seen := map[*graph.Resource]bool{}
	var all []*graph.Resource
	var visit func(*graph.Resource)
	visit = func(at *graph.Resource) {
		if at == nil || seen[at] {
			return
		}
		seen[at] = true
		all = append(all, at)
		for _, e := range s.From(at) {
			visit(e.To)
		}
	}
	for _, at := range from {
		visit(at)
	}
	return all
}
