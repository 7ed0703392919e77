package envoy

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
)

// Routes are the route tables that a connection manager uses.
type Routes struct {
	tables []routeTable
	// Known reports whether these are all routes. If not, some come over xDS and are not in the snapshot, or matchers and plugins select
	// them.
	Known bool
}

type routeTable struct {
	at      graph.At
	message *routev3.RouteConfiguration
}

// RoutesOf returns the route tables of a connection manager: its own, or those that it gets over RDS and SRDS.
func RoutesOf(s graph.View, at graph.At, m *hcmv3.HttpConnectionManager) Routes {
	rs := Routes{Known: m.GetScopedRoutes() == nil}
	if m.GetRouteConfig() != nil {
		rs.add(at.Field("route_config"), m.GetRouteConfig())
	}
	seen := map[*graph.Resource]bool{}
	for _, e := range s.From(at.Resource()) {
		if e.Place.Enclosing(hcmName) == at.Place {
			rs.follow(s, e, seen)
		}
	}
	return rs
}

// follow adds the tables that a reference leads to.
func (rs *Routes) follow(s graph.View, e *graph.Edge, seen map[*graph.Resource]bool) {
	switch {
	case e.Kind != graph.RouteConfiguration && e.Kind != graph.ScopedRouteConfiguration:
	case e.To == nil:
		rs.Known = false
	case seen[e.To]:
	default:
		seen[e.To] = true
		if message, ok := e.To.Message.(*routev3.RouteConfiguration); ok {
			rs.add(e.To.At(), message)
			return
		}
		for _, further := range s.From(e.To) {
			rs.follow(s, further, seen)
		}
	}
}

func (rs *Routes) add(at graph.At, message *routev3.RouteConfiguration) {
	rs.tables = append(rs.tables, routeTable{at, message})
	rs.Known = rs.Known && message.GetVhds() == nil && len(message.GetClusterSpecifierPlugins()) == 0
	for _, host := range message.GetVirtualHosts() {
		rs.Known = rs.Known && host.GetMatcher() == nil
	}
}

// RouteLevel is a part of a route table that can configure HTTP filters.
type RouteLevel struct {
	At      graph.At
	Around  *RouteLevel // nil for a table
	Configs map[string]*anypb.Any
	Table   *routev3.RouteConfiguration
	Host    *routev3.VirtualHost                   // nil for a table
	Route   *routev3.Route                         // nil for a table or a virtual host
	Cluster *routev3.WeightedCluster_ClusterWeight // nil for everything else
	Index   int                                    // of the route in its virtual host
}

// Levels yields each table, virtual host, route and weighted cluster, each after the level around it.
func (rs Routes) Levels(yield func(*RouteLevel) bool) {
	for _, t := range rs.tables {
		top := &RouteLevel{At: t.at, Configs: t.message.GetTypedPerFilterConfig(), Table: t.message}
		if !yield(top) {
			return
		}
		for i, host := range t.message.GetVirtualHosts() {
			if !hostLevels(top, t.at.Item("virtual_hosts", i), host, yield) {
				return
			}
		}
	}
}

func hostLevels(top *RouteLevel, at graph.At, host *routev3.VirtualHost, yield func(*RouteLevel) bool) bool {
	middle := &RouteLevel{At: at, Around: top, Configs: host.GetTypedPerFilterConfig(), Table: top.Table, Host: host}
	if !yield(middle) {
		return false
	}
	for _, own := range middle.Routes() {
		if !yield(own) {
			return false
		}
		for j, c := range own.Route.GetRoute().GetWeightedClusters().GetClusters() {
			part := *own
			part.At, part.Around = own.At.Field("route", "weighted_clusters").Item("clusters", j), own
			part.Configs, part.Cluster = c.GetTypedPerFilterConfig(), c
			if !yield(&part) {
				return false
			}
		}
	}
	return true
}

// Routes returns the routes of a virtual host.
func (l *RouteLevel) Routes() (all []*RouteLevel) {
	for i, r := range l.Host.GetRoutes() {
		all = append(all, &RouteLevel{
			At: l.At.Item("routes", i), Around: l, Configs: r.GetTypedPerFilterConfig(), Table: l.Table, Host: l.Host, Route: r, Index: i,
		})
	}
	return all
}

// Message returns the message of the level.
func (l *RouteLevel) Message() proto.Message {
	switch {
	case l.Cluster != nil:
		return l.Cluster
	case l.Route != nil:
		return l.Route
	case l.Host != nil:
		return l.Host
	}
	return l.Table
}

// FilterState is whether an HTTP filter runs for the requests of a route, and with what configuration of its own.
type FilterState struct {
	Off    bool
	Config proto.Message // of the most specific level that configures the filter; nil: that of the chain
	At     graph.At      // of Config, or of the message that turns the filter off or on
	Level  *RouteLevel   // that decides; nil: none does
}

// Filter returns the state of a filter: the most specific level decides (RouteEntryImplBase::filterDisabled and mostSpecificPerFilterConfig in
// source/common/router/config_impl.cc). off is what the chain says.
func (l *RouteLevel) Filter(name string, off bool) FilterState {
	for ; l != nil; l = l.Around {
		held := l.Configs[name]
		if held == nil {
			continue
		}
		content, at := Content(l.At.Entry("typed_per_filter_config", name), held)
		wrapper, wraps := content.(*routev3.FilterConfig)
		if !wraps {
			return FilterState{Config: content, At: at, Level: l}
		}
		inner, own := Content(at.Field("config"), wrapper.GetConfig())
		if inner == nil {
			own = at
		}
		return FilterState{Off: wrapper.GetDisabled(), Config: inner, At: own, Level: l}
	}
	return FilterState{Off: off}
}
