package transition

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "per-route-config-with-filter",
	Severity: lint.Warning,
	Summary:  "per-route configuration of an HTTP filter comes or goes in the same push as the filter",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_filters#route-based-filter-chain"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		seen := map[*graph.Change]bool{}
		for _, c := range changes.Of(graph.Listener) {
			if !c.Changed() {
				continue
			}
			before, after := filtered(p.Old, c.Old), filtered(p.Snapshot, c.New)
			for _, table := range slices.Concat(envoy.TablesOf(p.Old, c.Old), envoy.TablesOf(p.Snapshot, c.New)) {
				at := resource{table.Kind, table.Name}
				if t := changes.Find(at.kind, at.name); t != nil && t.Changed() && !seen[t] && !maps.Equal(before[at], after[at]) {
					seen[t] = reportShift(p, c, t, missing(before[at], after[at]), missing(after[at], before[at]))
				}
			}
		}
	}),
})

type resource struct {
	kind graph.Kind
	name string
}

// filtered returns the HTTP filters of a listener, for each route configuration and virtual host that it has.
func filtered(in graph.View, listener *graph.Resource) map[resource]map[string]bool {
	all, filters := map[resource]map[string]bool{}, envoy.HTTPFilters(listener)
	for _, table := range envoy.TablesOf(in, listener) {
		all[resource{table.Kind, table.Name}] = filters
	}
	return all
}

// missing returns the names that only the first set has.
func missing(these, others map[string]bool) map[string]bool {
	only := maps.Clone(these)
	maps.DeleteFunc(only, func(name string, _ bool) bool { return others[name] })
	return only
}

// reportShift reports whether it found something.
func reportShift(p *lint.Pass, listener, table *graph.Change, goes, comes map[string]bool) bool {
	lost := unlike(table.Old.Message, table.New.Message, goes)
	new := unlike(table.New.Message, table.Old.Message, comes)
	d := lint.Diagnostic{
		Help:    "push one after the other: `xdslint plan` gives the order",
		Related: []lint.Related{lint.RelatedTo(listener.New.At().Field("name"), "the filters of this listener change")},
	}
	if maps.Equal(envoy.HTTPFilters(listener.Old), envoy.HTTPFilters(listener.New)) {
		d.Related[0] = lint.RelatedTo(listener.New.At().Field("name"), "this listener gets other routes")
	}
	switch {
	case len(lost) > 0:
		d.Message = fmt.Sprintf("%s %q drops its configuration for filter %s, which draining connections still have", spoken(table.Kind), table.Name, words.And(lost))
		d.Notes = []string{"connections that were open before the push keep the filter until they are drained (--drain-time-s, 600 s by default), and get the new " +
			"routes at once: there, the filter does what it does without per-route configuration"}
	case len(new) > 0:
		d.Message = fmt.Sprintf("filter %s is added before Envoy has its configuration in %s %q", words.And(new), spoken(table.Kind), table.Name)
		d.Notes = []string{"until Envoy has read the new routes, the filter does what it does without per-route configuration"}
	default:
		return false
	}
	p.Report(table.New.At().Field("name"), d)
	return true
}

// unlike returns the filters whose per-route configuration in a table differs from that in another one.
func unlike(table, other proto.Message, filters map[string]bool) []string {
	there := envoy.FilterConfigs(other, filters)
	names := map[string]bool{}
	for at, config := range envoy.FilterConfigs(table, filters) {
		if !proto.Equal(config, there[at]) {
			names[at.Filter] = true
		}
	}
	return words.Quoted(slices.Sorted(maps.Keys(names)))
}
