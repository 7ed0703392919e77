// Package managers visits the HTTP connection managers of a snapshot together with the route tables that they use.
package managers

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Manager is an HTTP connection manager of a listener, with the routes that it uses.
type Manager struct {
	At      lint.At
	Message *hcmv3.HttpConnectionManager
	Chain   *listenerv3.FilterChain
	Routes  envoy.Routes
}

// All calls f once, with all connection managers of a snapshot: several can use one route table.
func All(f func(p *lint.Pass, all []Manager)) lint.Check {
	return lint.ForSnapshot(func(p *lint.Pass) {
		var all []Manager
		for _, r := range p.Snapshot.All(graph.Listener) {
			r.Walk(func(place *graph.Place) {
				m, ok := graph.As[*hcmv3.HttpConnectionManager](place)
				if !ok || !envoy.OuterRead(p.Target.Extensions(), place) {
					return
				}
				if chain, where := graph.Around[*listenerv3.FilterChain](place); where != nil {
					all = append(all, Manager{place.At(), m, chain, envoy.RoutesOf(p.Snapshot, place.At(), m)})
				}
			})
		}
		f(p, all)
	})
}

// Levels calls f for each part of the route tables that the managers use, once, with the managers that use it.
func Levels(all []Manager, f func(l *envoy.RouteLevel, users []Manager)) {
	type use struct {
		level *envoy.RouteLevel
		users []Manager
	}
	var order []*use
	uses := map[any]*use{}
	for _, m := range all {
		for l := range m.Routes.Levels {
			u := uses[l.Message()]
			if u == nil {
				u = &use{level: l}
				uses[l.Message()] = u
				order = append(order, u)
			}
			u.users = append(u.users, m)
		}
	}
	for _, u := range order {
		f(u.level, u.users)
	}
}
