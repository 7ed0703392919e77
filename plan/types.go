package plan

import (
	"slices"

	"github.com/xdslint/xdslint/graph"
)

// xds is one type of resources that can be pushed.
type xds struct {
	kind graph.Kind
	api  string // its common name
	// askers are the kinds that make a data plane ask for resources of the type by name. A server must not hold them
	// when they are not requested: go-control-plane's SnapshotCache over ADS (SotW) then withholds all others of the
	// type.
	askers []graph.Kind
}

// types lists the types in the order of sending within a phase: a resource comes before those that it makes the data plane ask for.
var types = []xds{
	{graph.Runtime, "RTDS", nil},
	{graph.Cluster, "CDS", nil},
	{graph.ClusterLoadAssignment, "EDS", []graph.Kind{graph.Cluster}},
	{graph.LbEndpoint, "LEDS", []graph.Kind{graph.ClusterLoadAssignment}},
	{graph.Listener, "LDS", nil},
	{graph.ScopedRouteConfiguration, "SRDS", nil},
	{graph.RouteConfiguration, "RDS", []graph.Kind{graph.Listener, graph.ScopedRouteConfiguration}},
	{graph.VirtualHost, "VHDS", []graph.Kind{graph.RouteConfiguration}},
	{graph.ExtensionConfig, "ECDS", []graph.Kind{graph.Listener, graph.Cluster}},
	{graph.Secret, "SDS", []graph.Kind{graph.Listener, graph.Cluster}},
}

// Types returns the kinds that can be pushed, in the order in which a phase sends them.
func Types() []graph.Kind {
	kinds := make([]graph.Kind, len(types))
	for i, t := range types {
		kinds[i] = t.kind
	}
	return kinds
}

// rank returns the place of a kind in the order of sending, or -1 if it is not pushed.
func rank(kind graph.Kind) int {
	return slices.IndexFunc(types, func(t xds) bool { return t.kind == kind })
}

func sendable(kind graph.Kind) bool { return rank(kind) >= 0 }

func asked(kind graph.Kind) bool { return sendable(kind) && len(types[rank(kind)].askers) > 0 }

// partial returns the kinds for which the input has nothing that asks for them. All their resources count as requested.
func partial(snapshots ...*graph.Snapshot) map[graph.Kind]bool {
	there := map[graph.Kind]bool{}
	for _, s := range snapshots {
		for _, r := range s.Resources {
			there[r.Kind] = true
		}
	}
	kinds := map[graph.Kind]bool{}
	for _, t := range types {
		kinds[t.kind] = !slices.ContainsFunc(t.askers, func(k graph.Kind) bool { return there[k] })
	}
	return kinds
}

// API returns the common name of the discovery service of a kind: CDS, EDS … .
func API(kind graph.Kind) string { return types[rank(kind)].api }
