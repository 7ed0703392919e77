package routetest

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/walk"
)

// difference returns what a test could expect of an answer that does not hold for another one: what clients and upstreams see, the filters that act and
// the limits. The names of routes and virtual hosts are not among them, since they change nothing.
func difference(before, after *walk.Answer) map[string]any {
	if sameWay(before, after) {
		return nil
	}
	different := map[string]any{}
	was, is := factsOf(before.Redacted()), factsOf(after.Redacted())
	c := comparison{answer: before}
	for _, name := range append(slices.Clone(behaviour), "endpoints", "limits") {
		value, has := was[name]
		if c.unknown(name, has && value != nil) != "" || reflect.DeepEqual(value, is[name]) && after.Unknown[name] == "" {
			continue
		}
		if name == "limits" && is[name] == nil && len(different) > 0 {
			continue // the request is not forwarded
		}
		different[name] = changed(value, is[name])
	}
	if filters := changedFilters(before, after); len(filters) > 0 {
		different["filters"] = filters
	}
	return preferred(different)
}

// preferred leaves out fields that have lost their values, unless nothing else differs.
func preferred(all map[string]any) map[string]any {
	some := maps.Clone(all)
	maps.DeleteFunc(some, func(_ string, value any) bool { return value == nil })
	if len(some) > 0 {
		return some
	}
	return all
}

// sameWay reports whether two answers are the same without a look at what a test can expect of them.
func sameWay(a, b *walk.Answer) bool {
	return reflect.DeepEqual(unnamed(*a), unnamed(*b))
}

// unnamed takes out of an answer what only describes the way of the request, and where that is.
func unnamed(a walk.Answer) walk.Answer {
	a.At, a.Filters, a.Endpoints = walk.Places{}, slices.Clone(a.Filters), slices.Clone(a.Endpoints)
	for i, f := range a.Filters {
		a.Filters[i] = walk.FilterStep{Name: f.Name, Kind: f.Kind, Does: f.Does, Config: f.Config}
	}
	for i := range a.Endpoints {
		a.Endpoints[i].At = graph.At{}
	}
	a.Listener, a.Chain, a.Scope, a.Table, a.VirtualHost, a.Route, a.Passed, a.Reached = "", "", "", "", "", "", nil, nil
	return a
}

// changed returns the entries of a map that another one does not have, or the value if it is not a map.
func changed(value, other any) any {
	was, ok := value.(map[string]any)
	is, both := other.(map[string]any)
	if !ok || !both {
		return value
	}
	all := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if !reflect.DeepEqual(was[key], is[key]) {
			all[key] = was[key]
		}
	}
	for key := range is {
		if _, has := was[key]; !has {
			all[key] = nil
		}
	}
	return all
}

// changedFilters returns the states of the filters that have another state in another answer.
func changedFilters(before, after *walk.Answer) map[string]any {
	all := map[string]any{}
	for i := range before.Filters {
		f := &before.Filters[i]
		other := cmp.Or(stepOf(after, f.Name), stepOf(after, f.Kind)) // a name is only a name
		if other == nil || other.Does != f.Does {
			all[f.Name] = stateNames[f.Does]
		}
	}
	return all
}

// stateNames are what tests call the states of filters.
var stateNames = map[string]string{"passes": "passes", "answers": "answers", "disabled": "disabled", "unknown": "undecided"}
