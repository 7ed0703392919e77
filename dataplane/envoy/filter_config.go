package envoy

import (
	"maps"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
)

// HTTPFilters returns the names of a listener's HTTP filters.
func HTTPFilters(listener *graph.Resource) map[string]bool {
	names := map[string]bool{}
	listener.Walk(func(at *graph.Place) {
		if f, ok := at.Message.Interface().(*hcmv3.HttpFilter); ok {
			names[f.GetName()] = true
		}
	})
	return names
}

// TablesOf returns the route configurations and virtual hosts that a listener gets over xDS.
func TablesOf(s graph.View, listener *graph.Resource) []*graph.Resource {
	var all []*graph.Resource
	seen := map[*graph.Resource]bool{}
	var visit func(*graph.Resource)
	visit = func(r *graph.Resource) {
		for _, e := range s.From(r) {
			switch e.Kind {
			case graph.RouteConfiguration, graph.VirtualHost, graph.ScopedRouteConfiguration:
				if e.To != nil && !seen[e.To] {
					seen[e.To] = true
					if e.Kind != graph.ScopedRouteConfiguration {
						all = append(all, e.To)
					}
					visit(e.To)
				}
			}
		}
	}
	visit(listener)
	return all
}

// FilterPlace is a place in a route configuration where an HTTP filter can be configured.
type FilterPlace struct {
	Place  string // virtual host, match of the route, cluster; the same for places that take the same requests
	Filter string
}

// FilterConfigs returns the per-route configuration of HTTP filters in a route configuration or virtual host.
func FilterConfigs(table proto.Message, filters map[string]bool) map[FilterPlace]*anypb.Any {
	all := map[FilterPlace]*anypb.Any{}
	eachFilterConfig(table, func(place string, config *map[string]*anypb.Any) {
		for name, c := range *config {
			if filters[name] {
				all[FilterPlace{place, name}] = c
			}
		}
	})
	return all
}

// UnreadFilterConfigs returns, by route configuration and virtual host over xDS, the HTTP filters that it configures and that no listener
// with it has. Connections that drain may still have them.
func UnreadFilterConfigs(s *graph.Snapshot) map[*graph.Resource]map[string]bool {
	all := map[*graph.Resource]map[string]bool{}
	for _, kind := range []graph.Kind{graph.RouteConfiguration, graph.VirtualHost} {
		for _, table := range s.All(kind) {
			eachFilterConfig(table.Message, func(_ string, config *map[string]*anypb.Any) {
				for name := range *config {
					if all[table] == nil {
						all[table] = map[string]bool{}
					}
					all[table][name] = true
				}
			})
		}
	}
	for _, listener := range s.All(graph.Listener) {
		filters := HTTPFilters(listener)
		for _, table := range TablesOf(s, listener) {
			maps.DeleteFunc(all[table], func(name string, _ bool) bool { return filters[name] })
		}
	}
	maps.DeleteFunc(all, func(_ *graph.Resource, names map[string]bool) bool { return len(names) == 0 })
	return all
}

// WithFilterConfigs returns a copy of a route configuration or virtual host that has the per-route configuration of HTTP filters from another one,
// in the places that both have.
func WithFilterConfigs(table, from proto.Message, filters map[string]bool) proto.Message {
	configs := FilterConfigs(from, filters)
	table = proto.Clone(table)
	eachFilterConfig(table, func(place string, config *map[string]*anypb.Any) {
		for name := range filters {
			if c := configs[FilterPlace{place, name}]; c != nil {
				if *config == nil {
					*config = map[string]*anypb.Any{}
				}
				(*config)[name] = c
			}
		}
	})
	return table
}

// eachFilterConfig visits each typed_per_filter_config of a route configuration or virtual host.
func eachFilterConfig(table proto.Message, visit func(place string, config *map[string]*anypb.Any)) {
	switch m := table.(type) {
	case *routev3.RouteConfiguration:
		visit("", &m.TypedPerFilterConfig)
		for _, host := range m.GetVirtualHosts() {
			eachFilterConfig(host, visit)
		}
	case *routev3.VirtualHost:
		visit(strings.Join(m.GetDomains(), " "), &m.TypedPerFilterConfig)
		for _, r := range m.GetRoutes() {
			place := routePlace(m, r)
			visit(place, &r.TypedPerFilterConfig)
			for _, c := range r.GetRoute().GetWeightedClusters().GetClusters() {
				visit(place+"\n"+c.GetName(), &c.TypedPerFilterConfig)
			}
		}
	}
}

// routePlace identifies a route by the requests that it takes.
func routePlace(host *routev3.VirtualHost, r *routev3.Route) string {
	match, _ := proto.MarshalOptions{Deterministic: true}.Marshal(r.GetMatch()) // what was decoded can be encoded
	return strings.Join(host.GetDomains(), " ") + "\n" + string(match)
}
