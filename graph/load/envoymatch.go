package load

import (
	"regexp"
	"slices"

	"github.com/xdslint/xdslint/internal/tree"
)

// matches lists the objects by which a patch can be matched, and what is patched in each.
var matches = []struct {
	key  string
	what []string
}{
	{"listener", []string{"LISTENER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"}},
	{"routeConfiguration", []string{"ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"}},
	{"cluster", []string{"CLUSTER"}},
}

// matched checks the match of a patch as Istio's validation does.
func (o *object) matched(at *tree.Path, match *tree.Node, to string) {
	if match == nil || match.Kind != tree.Map || forWaypoint(match) {
		return
	}
	at = at.Field("match")
	for _, m := range matches {
		if !slices.Contains(m.what, to) {
			continue
		}
		for _, other := range matches {
			if n := match.Get(other.key); n != nil && n.Kind != tree.Null && other.key != m.key {
				o.wrong(at.Field(other.key), n, "%s is matched by %s, not by %s", to, m.key, other.key)
			}
		}
	}
	if version := find(match, "proxy", "proxyVersion"); version != nil {
		if _, err := regexp.Compile(version.Text); err != nil {
			o.wrong(at.Field("proxy").Field("proxyVersion"), version, "proxyVersion is not a regular expression of Go: %s", err)
		}
	}
	if slices.Contains(matches[0].what, to) {
		o.filterMatched(at.Field("listener").Field("filterChain").Field("filter"), find(match, "listener", "filterChain", "filter"), to)
	}
}

// forWaypoint reports whether a match is for waypoints. These have another shape, and Istio's validation ignores them.
func forWaypoint(match *tree.Node) bool { return textOf(find(match, "context")) == "WAYPOINT" }

func (o *object) filterMatched(at *tree.Path, filter *tree.Node, to string) {
	if filter == nil || filter.Kind != tree.Map {
		return
	}
	name, sub := textOf(filter.Get("name")), filter.Get("subFilter")
	switch {
	case name == "":
		o.wrong(at.Field("name"), filter, "a filter is matched by its name, which is missing")
	case sub == nil || sub.Kind != tree.Map:
	case to != "HTTP_FILTER":
		o.wrong(at.Field("subFilter"), sub, "only HTTP_FILTER can be matched by a subFilter")
	case name != "envoy.filters.network.http_connection_manager" && name != "envoy.http_connection_manager":
		o.wrong(at.Field("name"), filter.Get("name"), "only envoy.filters.network.http_connection_manager has subFilters: name that filter here")
	case textOf(sub.Get("name")) == "":
		o.wrong(at.Field("subFilter").Field("name"), sub, "a subFilter is matched by its name, which is missing")
	}
}

// named are the keys of the filter name that a match must have before Istio removes or replaces the filter.
var named = map[string][]string{
	"LISTENER_FILTER": {"listener", "listenerFilter"},
	"NETWORK_FILTER":  {"listener", "filterChain", "filter"},
	"HTTP_FILTER":     {"listener", "filterChain", "filter", "subFilter"},
}

// idle reports whether Istio ignores an operation because the match does not name a filter.
func idle(to, operation string, match *tree.Node) bool {
	keys := named[to]
	needed := operation == "REMOVE" || operation == "REPLACE" || operation == "MERGE" && to == "LISTENER_FILTER"
	return keys != nil && needed && !forWaypoint(match) && find(match, keys...) == nil
}
