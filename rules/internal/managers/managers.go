// Package managers visits the HTTP connection managers of a snapshot together with the route tables that they use.
package managers

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Manager is an HTTP connection manager of a listener, with its filters and the routes that it uses.
type Manager struct {
	At      lint.At
	Message *hcmv3.HttpConnectionManager
	Filters []envoy.HTTPFilter
	Routes  envoy.Routes
}

// All calls f once, with all connection managers of a snapshot: several can use one route table.
func All(f func(p *lint.Pass, all []Manager)) lint.Check {
	return lint.ForSnapshot(func(p *lint.Pass) { f(p, managersOf(p)) })
}

type key struct{}

func managersOf(p *lint.Pass) []Manager {
	return lint.Shared(p, key{}, func() (all []Manager) {
		tables := &envoy.RouteTables{Snapshot: p.Snapshot}
		edges := map[*graph.Place][]*graph.Edge{} // to tables and scopes, by the manager
		var last *graph.Resource
		for _, place := range p.Snapshot.Places(hcmName) {
			m, ok := graph.As[*hcmv3.HttpConnectionManager](place)
			_, chain := graph.Around[*listenerv3.FilterChain](place)
			if !ok || chain == nil || !envoy.OuterRead(p.Target.Extensions(), place) {
				continue // of an api_listener, or in an Any that Envoy does not read
			}
			if place.Resource != last {
				last = place.Resource
				addEdges(p, last, edges)
			}
			at := place.At()
			all = append(all, Manager{at, m, envoy.HTTPFiltersOf(at, "http_filters", m.GetHttpFilters()), tables.Of(at, m, edges[place])})
		}
		return all
	})
}

var hcmName = (&hcmv3.HttpConnectionManager{}).ProtoReflect().Descriptor().FullName()

func addEdges(p *lint.Pass, listener *graph.Resource, edges map[*graph.Place][]*graph.Edge) {
	for _, e := range p.Snapshot.From(listener) {
		if e.Kind == graph.RouteConfiguration || e.Kind == graph.ScopedRouteConfiguration {
			_, manager := graph.Around[*hcmv3.HttpConnectionManager](e.Place)
			edges[manager] = append(edges[manager], e)
		}
	}
}

// EachLevel calls f for each part of the route tables that the managers of a snapshot use, once, with all managers that use it.
func EachLevel(p *lint.Pass, f func(l *envoy.RouteLevel, users []Manager)) {
	eachLevel(lint.Shared(p, tablesKey{}, func() []table { return tablesOf(managersOf(p)) }), f)
}

// EachLevelOfKinds is EachLevel with one of the managers that have the same filters and use the same tables: thousands of them can do so.
func EachLevelOfKinds(p *lint.Pass, f func(l *envoy.RouteLevel, users []Manager)) {
	eachLevel(lint.Shared(p, kindsKey{}, func() []table { return tablesOf(kindsOf(managersOf(p))) }), f)
}

type tablesKey struct{}

type kindsKey struct{}

// table is a route table with the managers that use it.
type table struct {
	*envoy.RouteTable
	users []Manager
}

func eachLevel(tables []table, f func(l *envoy.RouteLevel, users []Manager)) {
	for _, t := range tables {
		for _, l := range t.Levels {
			f(l, t.users)
		}
	}
}

// tablesOf returns the tables that managers use, in the order in which they are first used.
func tablesOf(all []Manager) []table {
	users := map[*envoy.RouteTable][]Manager{}
	var order []*envoy.RouteTable
	for _, m := range all {
		for _, t := range m.Routes.Tables {
			if users[t] == nil {
				order = append(order, t)
			}
			users[t] = append(users[t], m)
		}
	}
	tables := make([]table, len(order))
	for i, t := range order {
		tables[i] = table{t, users[t]}
	}
	return tables
}

// kindsOf returns the first manager of each kind.
func kindsOf(all []Manager) (kinds []Manager) {
	seen := map[string]bool{}
	for _, m := range all {
		if k := m.kind(); !seen[k] {
			seen[k] = true
			kinds = append(kinds, m)
		}
	}
	return kinds
}

// kind returns a text that is the same for managers with the same tables, HTTP filters, network filters next to them and listener filters.
func (m Manager) kind() string {
	chain, _ := graph.Around[*listenerv3.FilterChain](m.At.Place)
	listener, _ := graph.Around[*listenerv3.Listener](m.At.Place)
	text := fmt.Sprintf("%v %d", m.Routes.Tables, len(chain.GetFilters()))
	for _, part := range []proto.Message{
		&hcmv3.HttpConnectionManager{HttpFilters: m.Message.GetHttpFilters(), UpgradeConfigs: m.Message.GetUpgradeConfigs()},
		&listenerv3.Listener{ListenerFilters: listener.GetListenerFilters()},
	} {
		bytes, _ := proto.MarshalOptions{Deterministic: true}.Marshal(part) // what was decoded can be encoded
		text += "\n" + string(bytes)
	}
	return text
}
