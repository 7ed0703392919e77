// Package route holds the rules about route tables.
package route

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "route", Summary: "route tables: domains, matches, rewrites, retries, headers", Family: dataplane.Envoy}

// table is the route table around a place. Envoy builds it as a whole when it loads the configuration.
type table struct {
	config *routev3.RouteConfiguration // nil for a virtual host from VHDS
}

// tables are the fields that hold a route table. A table that is not in a field comes from RDS.
var tables = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.route_config": true,
	"envoy.config.route.v3.ScopedRouteConfiguration.route_configuration":                             true,
}

// tableOf returns the table that a place belongs to. That includes routes in the actions of a virtual host's matcher, but not the
// content of other Anys, such as the configurations of filters.
func tableOf(p *lint.Pass, at lint.At) (t table, ok bool) {
	found := lint.Here(p, tableKey{}, at.Place, func() (f foundTable) {
		f.table, f.ok = findTable(p, at)
		return f
	})
	return found.table, found.ok
}

type tableKey struct{}

type foundTable struct {
	table
	ok bool
}

func findTable(p *lint.Pass, at lint.At) (t table, ok bool) {
	for place := at.Place; place != nil; place = place.Parent {
		switch m := place.Message.Interface().(type) {
		case *routev3.RouteConfiguration:
			if place.Parent != nil {
				if fd := envoy.FieldOf(place); fd == nil || !tables[fd.FullName()] {
					return t, false
				}
			}
			return table{m}, isRead(p, place)
		case *routev3.VirtualHost:
			if place.Parent == nil {
				return table{}, true
			}
		}
		if place.Message.Descriptor().FullName() == "google.protobuf.Any" && !isAction(place) {
			return t, false
		}
	}
	return t, false
}

// isRead reports whether Envoy reads a table. The messages of a table ask in turn.
func isRead(p *lint.Pass, table *graph.Place) bool {
	return lint.Here(p, readKey{}, table, func() bool { return envoy.OuterRead(p.Target.Extensions(), table) })
}

type readKey struct{}

// isAction reports whether a place is the Any of a matcher's action, or of a matcher tree that leads to actions.
func isAction(place *graph.Place) bool {
	if place.Parent == nil {
		return false
	}
	fd := envoy.FieldOf(place.Parent)
	if fd == nil {
		return false
	}
	switch fd.FullName() {
	case "xds.type.matcher.v3.Matcher.OnMatch.action", "envoy.config.common.matcher.v3.Matcher.OnMatch.action",
		"xds.type.matcher.v3.Matcher.MatcherTree.custom_match", "envoy.config.common.matcher.v3.Matcher.MatcherTree.custom_match":
		return true
	}
	return false
}

// holder returns the name of the field that holds the message at a place.
func holder(at lint.At) protoreflect.FullName {
	if fd := envoy.FieldOf(at.Place); fd != nil {
		return fd.FullName()
	}
	return ""
}
