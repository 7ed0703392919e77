package envoy

import (
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// Traffic determines which requests and connections of a snapshot another snapshot serves too: only these
// can fail because of a push. If that is not certain, it assumes that they are served.
type Traffic struct {
	snapshot graph.View
	entries  map[*graph.Resource][]Entry
	listened bool                                  // the snapshot has listeners
	others   map[*graph.Resource][]*graph.Resource // counterparts
	routing  map[*graph.Resource]*routing
	tables   map[*routev3.RouteConfiguration]*table
	tableOf  map[*routev3.VirtualHost]*table
	routes   map[*routev3.VirtualHost][]route
	chains   map[*listenerv3.Listener]*match.Chains

	byAddress map[string][]*graph.Resource // listeners
}

// routing is the scopes and route tables that an entry leads to.
type routing struct {
	tables []*table
	keys   map[string]bool // of the scopes
}

// Entry is a place where traffic enters.
type Entry struct {
	Resource *graph.Resource                   // a listener; in a snapshot without listeners, a resource that is not referenced
	By       *graph.Edge                       // the reference that the traffic follows; nil if it ends here
	scope    *routev3.ScopedRouteConfiguration // the scope that the traffic passes; nil if there is none
}

// TrafficOf returns the traffic of a snapshot, which must be built.
func TrafficOf(s graph.View) *Traffic {
	return &Traffic{
		snapshot: s, listened: len(s.All(graph.Listener)) > 0,
		entries: map[*graph.Resource][]Entry{}, others: map[*graph.Resource][]*graph.Resource{}, routing: map[*graph.Resource]*routing{},
		tables: map[*routev3.RouteConfiguration]*table{}, tableOf: map[*routev3.VirtualHost]*table{}, routes: map[*routev3.VirtualHost][]route{},
		chains: map[*listenerv3.Listener]*match.Chains{},
	}
}

// Entries returns the places where the traffic of a resource enters.
func (t *Traffic) Entries(r *graph.Resource) []Entry {
	if known, ok := t.entries[r]; ok {
		return known
	}
	seen := map[*graph.Resource]bool{r: true}
	var found []Entry
	for next := []Entry{{Resource: r}}; len(next) > 0; next = next[1:] {
		at := next[0].Resource
		above := t.snapshot.To(at)
		if at.Kind == graph.Listener || !t.listened && len(above) == 0 {
			found = append(found, next[0])
			continue
		}
		for _, e := range above {
			if e.From.Kind == graph.Listener || !seen[e.From] { // a listener can lead here by several filter chains
				seen[e.From] = true
				next = append(next, Entry{e.From, e, scopeOf(e, next[0].scope)})
			}
		}
	}
	t.entries[r] = found
	return found
}

// Continues reports whether requests that reach the place of a reference are also served in the other snapshot, by any resource
// there: a listener with the same name or address, a scope with the same key, a virtual host for the same domain, a route for the
// same path.
func (t *Traffic) Continues(e *graph.Edge, in *Traffic) bool {
	for _, entry := range t.Entries(e.From) {
		by := entry.By
		if by == nil {
			by = e
		}
		for _, other := range in.counterparts(entry.Resource) {
			if t.connectionsMeet(by, in, other) && in.hasScope(other, scopeOf(e, entry.scope)) && t.answered(entry.Resource, e, in, other) {
				return true
			}
		}
	}
	return false
}

// scopeOf returns the scope around a reference, or otherwise.
func scopeOf(e *graph.Edge, otherwise *routev3.ScopedRouteConfiguration) *routev3.ScopedRouteConfiguration {
	if scope, where := graph.Around[*routev3.ScopedRouteConfiguration](e.Place); where != nil {
		return scope
	}
	return otherwise
}

// hasScope reports whether an entry has a scope for the same requests, or does not use scopes.
func (t *Traffic) hasScope(entry *graph.Resource, scope *routev3.ScopedRouteConfiguration) bool {
	keys := t.routingOf(entry).keys
	return scope == nil || len(keys) == 0 || keys[scopeKey(scope)]
}

// counterparts returns the entries that receive the traffic of an entry of another snapshot.
func (t *Traffic) counterparts(entry *graph.Resource) []*graph.Resource {
	if known, ok := t.others[entry]; ok {
		return known
	}
	all := slices.Clone(t.snapshot.Named(entry.Kind, entry.Name))
	for _, address := range Addresses(entry) {
		for _, l := range t.listenersAt()[address] {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	t.others[entry] = all
	return all
}

// listenersAt returns the listeners by their addresses.
func (t *Traffic) listenersAt() map[string][]*graph.Resource {
	if t.byAddress == nil {
		t.byAddress = map[string][]*graph.Resource{}
		for _, l := range t.snapshot.All(graph.Listener) {
			for _, address := range Addresses(l) {
				t.byAddress[address] = append(t.byAddress[address], l)
			}
		}
	}
	return t.byAddress
}

// answered reports whether other, an entry of the snapshot in, serves requests that reach the place of a reference through entry.
func (t *Traffic) answered(entry *graph.Resource, e *graph.Edge, in *Traffic, other *graph.Resource) bool {
	host, where := graph.Around[*routev3.VirtualHost](e.Place)
	if where == nil {
		return true
	}
	var before []route
	if r, where := graph.Around[*routev3.Route](e.Place); where != nil {
		before = upTo(t.routesOf(host), r)
	}
	t.routingOf(entry)
	own := t.tableOf[host]
	if own == nil {
		return true // it is not known how the entry leads there
	}
	for _, table := range in.routingOf(other).tables {
		for _, there := range own.sharing(host, table) {
			if in.serves(there, before) {
				return true
			}
		}
	}
	return false
}

// serves reports whether a virtual host serves requests that go to the last of others, or any requests if others is empty.
func (t *Traffic) serves(host *routev3.VirtualHost, others []route) bool {
	if host.GetMatcher() != nil {
		return true
	}
	routes := t.routesOf(host)
	for i, r := range routes {
		if (len(others) == 0 || routesMeet(others, routes[:i+1])) && t.succeeds(r.message) {
			return true
		}
	}
	return false
}

func (t *Traffic) routesOf(host *routev3.VirtualHost) []route {
	known, ok := t.routes[host]
	if !ok {
		for _, r := range host.GetRoutes() {
			known = append(known, newRoute(r))
		}
		t.routes[host] = known
	}
	return known
}

// succeeds reports whether a route does more than answer with an error.
func (t *Traffic) succeeds(r *routev3.Route) bool {
	cluster := r.GetRoute().GetCluster()
	missing := cluster != "" && t.snapshot.Find(graph.Cluster, graph.Anywhere, cluster) == nil && !t.snapshot.Assumes(graph.Cluster, cluster) &&
		t.snapshot.World(graph.Cluster, graph.Anywhere) != graph.Open
	return !missing && r.GetDirectResponse().GetStatus() < 400
}

// routingOf returns the scopes and the route tables that an entry leads to.
func (t *Traffic) routingOf(entry *graph.Resource) *routing {
	if known, ok := t.routing[entry]; ok {
		return known
	}
	found := &routing{keys: map[string]bool{}}
	t.routing[entry] = found
	type step struct {
		to    *graph.Resource
		below *graph.Place // the reference to the place
	}
	seen := map[*graph.Resource]bool{entry: true}
	for next := []step{{to: entry}}; len(next) > 0; next = next[1:] {
		next[0].to.Walk(func(at *graph.Place) { t.collect(found, at, next[0].below) })
		for _, e := range t.snapshot.From(next[0].to) {
			if to := e.To; to != nil && to.Kind != graph.Cluster && !seen[to] {
				seen[to] = true
				next = append(next, step{to, e.Place})
			}
		}
	}
	return found
}

// collect adds the scopes and virtual hosts of a place. A virtual host from VHDS belongs to the table that refers to it.
func (t *Traffic) collect(found *routing, at, below *graph.Place) {
	switch m := at.Message.Interface().(type) {
	case *routev3.ScopedRouteConfiguration:
		found.keys[scopeKey(m)] = true
	case *routev3.RouteConfiguration:
		found.tables = append(found.tables, t.table(m))
	case *routev3.VirtualHost:
		config, where := graph.Around[*routev3.RouteConfiguration](at)
		if where == nil {
			config, where = graph.Around[*routev3.RouteConfiguration](below)
		}
		if where == nil {
			found.tables = append(found.tables, t.table(nil))
		}
		t.table(config).add(m)
		t.tableOf[m] = t.table(config)
	}
}

func (t *Traffic) table(of *routev3.RouteConfiguration) *table {
	if t.tables[of] == nil {
		t.tables[of] = newTable()
	}
	return t.tables[of]
}
