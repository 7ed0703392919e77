package walk

import (
	"maps"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// Part is a part of a configuration that a request can reach: a message, or what has a name in it (a domain of a virtual host, the settings of a filter).
type Part struct {
	message proto.Message
	name    string
}

// PlacedPart is a Part with what it is, and where.
type PlacedPart struct {
	Part
	Kind string // filter chain, domain, route, weighted cluster, override
	Name string
	At   graph.At
}

// reach notes that the request reaches a part.
func (j *journey) reach(message proto.Message, name string) {
	j.answer.Reached = append(j.answer.Reached, Part{message, name})
}

// Domain returns the domain of the virtual host that the request reaches; empty if it does not reach one.
func (a *Answer) Domain() string {
	for _, part := range a.Reached {
		if _, ok := part.message.(*routev3.VirtualHost); ok {
			return part.name
		}
	}
	return ""
}

// Parts returns all parts that a request could reach.
func (w *Walker) Parts() (all []PlacedPart) {
	for _, r := range w.listeners {
		l := r.Message.(*listenerv3.Listener)
		for i, c := range l.GetFilterChains() {
			all = append(all, PlacedPart{Part{c, ""}, "filter chain", chainName(c, i), r.At().Item("filter_chains", i)})
		}
		if c := l.GetDefaultFilterChain(); c != nil {
			all = append(all, PlacedPart{Part{c, ""}, "filter chain", chainName(c, -1), r.At().Field("default_filter_chain")})
		}
	}
	for _, t := range w.Tables() {
		for _, level := range t.Levels {
			all = append(all, partsOf(level)...)
		}
	}
	return all
}

// Tables returns all route configurations of the snapshot.
func (w *Walker) Tables() (all []*envoy.RouteTable) {
	for _, place := range w.view.Places((&routev3.RouteConfiguration{}).ProtoReflect().Descriptor().FullName()) {
		if m, ok := graph.As[*routev3.RouteConfiguration](place); ok {
			all = append(all, w.levels.Table(place.At(), m))
		}
	}
	return all
}

// partsOf returns the parts of a level of a route table, without those of the levels in it.
func partsOf(l *envoy.RouteLevel) (all []PlacedPart) {
	add := func(kind, key, name string, at graph.At) {
		all = append(all, PlacedPart{Part{messageOf(l), key}, kind, name, at})
	}
	switch {
	case l.Cluster != nil:
		if l.Cluster.GetWeight().GetValue() > 0 {
			add("weighted cluster", "", l.Cluster.GetName(), l.At)
		}
	case l.Route != nil:
		add("route", "", RouteName(l), l.At)
	case l.Host != nil:
		for i, domain := range l.Host.GetDomains() {
			add("domain", domain, domain, l.At.Item("domains", i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Configs)) {
		add("override", name, name+" of "+levelName(l), l.At.Entry("typed_per_filter_config", name))
	}
	return all
}

// messageOf returns the message of a level.
func messageOf(l *envoy.RouteLevel) proto.Message {
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
