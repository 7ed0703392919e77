package envoy

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// RouteInput reports whether RouteActionValidationVisitor::performDataInputValidation accepts an input of a matcher.
func RouteInput(x *dataplane.Extensions, name protoreflect.FullName) bool {
	switch name {
	case "envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "envoy.extensions.matching.common_inputs.network.v3.FilterStateInput":
		return true
	}
	return Known(x, name, "envoy.matching.common_inputs")
}

// Routes are the route tables that a connection manager uses.
type Routes struct {
	Tables []*RouteTable
	// Known reports whether these are all routes. If not, some come over xDS and are not in the snapshot, or matchers and plugins select
	// them.
	Known bool
}

// Levels yields the levels of all tables.
func (rs Routes) Levels(yield func(*RouteLevel) bool) {
	for _, t := range rs.Tables {
		for _, l := range t.Levels {
			if !yield(l) {
				return
			}
		}
	}
}

// RouteTable is a route table, with its virtual hosts, routes and weighted clusters, each after the level around it.
type RouteTable struct {
	Levels []*RouteLevel
	known  bool
}

// RouteTables finds the routes of connection managers, and keeps the tables that several of them use.
type RouteTables struct {
	Snapshot graph.View
	tables   map[*routev3.RouteConfiguration]*RouteTable
}

// Of returns the route tables of a connection manager: its own, or those that it gets over RDS and SRDS. edges are the references to tables and
// scopes in the manager.
func (ts *RouteTables) Of(at graph.At, m *hcmv3.HttpConnectionManager, edges []*graph.Edge) Routes {
	rs := Routes{Known: m.GetScopedRoutes() == nil}
	if m.GetRouteConfig() != nil {
		rs.add(ts.Table(at.Field("route_config"), m.GetRouteConfig()))
	}
	seen := map[*graph.Resource]bool{}
	for _, e := range edges {
		ts.follow(&rs, e, seen)
	}
	return rs
}

// follow adds the tables that a reference leads to.
func (ts *RouteTables) follow(rs *Routes, e *graph.Edge, seen map[*graph.Resource]bool) {
	switch {
	case e.Kind != graph.RouteConfiguration && e.Kind != graph.ScopedRouteConfiguration:
	case e.To == nil:
		rs.Known = false
	case seen[e.To]:
	default:
		seen[e.To] = true
		if message, ok := e.To.Message.(*routev3.RouteConfiguration); ok {
			rs.add(ts.Table(e.To.At(), message))
			return
		}
		for _, further := range ts.Snapshot.From(e.To) {
			ts.follow(rs, further, seen)
		}
	}
}

func (rs *Routes) add(t *RouteTable) {
	rs.Tables = append(rs.Tables, t)
	rs.Known = rs.Known && t.known
}

// Table returns one route table.
func (ts *RouteTables) Table(at graph.At, m *routev3.RouteConfiguration) *RouteTable {
	if t := ts.tables[m]; t != nil {
		return t
	}
	t := &RouteTable{known: m.GetVhds() == nil && len(m.GetClusterSpecifierPlugins()) == 0}
	top := &RouteLevel{At: at, Configs: m.GetTypedPerFilterConfig(), Table: m}
	t.Levels = append(t.Levels, top)
	for i, host := range m.GetVirtualHosts() {
		t.known = t.known && host.GetMatcher() == nil
		t.addHost(&RouteLevel{At: at.Item("virtual_hosts", i), Around: top, Configs: host.GetTypedPerFilterConfig(), Table: m, Host: host})
	}
	if ts.tables == nil {
		ts.tables = map[*routev3.RouteConfiguration]*RouteTable{}
	}
	ts.tables[m] = t
	return t
}

func (t *RouteTable) addHost(host *RouteLevel) {
	t.Levels = append(t.Levels, host)
	for i, r := range host.Host.GetRoutes() {
		own := RouteLevel{Table: host.Table, Host: host.Host}
		own.At, own.Around, own.Configs, own.Route, own.Index = host.At.Item("routes", i), host, r.GetTypedPerFilterConfig(), r, i
		host.Routes = append(host.Routes, &own)
		t.Levels = append(t.Levels, &own)
		for j, c := range r.GetRoute().GetWeightedClusters().GetClusters() {
			part := own
			part.At, part.Around = own.At.Field("route", "weighted_clusters").Item("clusters", j), &own
			part.Configs, part.Cluster = c.GetTypedPerFilterConfig(), c
			t.Levels = append(t.Levels, &part)
		}
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
	Routes  []*RouteLevel                          // of a virtual host
}

// FilterState is whether an HTTP filter runs for the requests of a route, and with what configuration of its own.
type FilterState struct {
	Off    bool
	Config proto.Message // of the most specific level that configures the filter; nil: that of the chain
	At     graph.At      // of Config, or of the message that turns the filter off or on
	Level  *RouteLevel   // that decides; nil: none does
}

// Filter returns the state of a filter: the most specific level decides whether it runs, and the most specific one with a configuration how
// (RouteEntryImplBase::filterDisabled and mostSpecificPerFilterConfig in source/common/router/config_impl.cc). A FilterConfig with an empty config only
// turns the filter on. off is what the chain says.
func (l *RouteLevel) Filter(name string, off bool) FilterState {
	state := FilterState{Off: off}
	for ; l != nil && state.Config == nil; l = l.Around {
		held := l.Configs[name]
		if held == nil {
			continue
		}
		content, at := Content(l.At.Entry("typed_per_filter_config", name), held)
		own := FilterState{Config: content, At: at, Level: l}
		if wrapper, wraps := content.(*routev3.FilterConfig); wraps {
			own.Off = wrapper.GetDisabled()
			own.Config, own.At = Content(at.Field("config"), wrapper.GetConfig())
			if own.Config == nil {
				own.At = at
			}
		}
		switch {
		case state.Level == nil:
			state = own
		case own.Config != nil:
			state.Config, state.At = own.Config, own.At
		}
		if state.Off {
			break
		}
	}
	return state
}
