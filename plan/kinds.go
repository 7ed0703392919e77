package plan

import (
	"slices"

	"github.com/xdslint/xdslint/graph"
)

// xds is one type of resources that can be pushed.
type xds struct {
	kind graph.Kind
	api  string // as people call it
	// asked: a data plane asks for these by name, when something refers to them. A server may hold them only for so long: with
	// go-control-plane's SnapshotCache over ADS (SotW), one that nobody asks for holds back all others of its type.
	asked bool
}

// types in the order of sending within a phase: whoever refers comes before whom it makes the data plane ask for.
var types = []xds{
	{graph.Runtime, "RTDS", false},
	{graph.Cluster, "CDS", false},
	{graph.ClusterLoadAssignment, "EDS", true},
	{graph.LbEndpoint, "LEDS", true},
	{graph.Listener, "LDS", false},
	{graph.ScopedRouteConfiguration, "SRDS", false},
	{graph.RouteConfiguration, "RDS", true},
	{graph.VirtualHost, "VHDS", true},
	{graph.ExtensionConfig, "ECDS", true},
	{graph.Secret, "SDS", true},
}

// rank of a kind in the order of sending, -1 for what is not pushed.
func rank(kind graph.Kind) int {
	return slices.IndexFunc(types, func(t xds) bool { return t.kind == kind })
}

func sendable(kind graph.Kind) bool { return rank(kind) >= 0 }

func asked(kind graph.Kind) bool { return sendable(kind) && types[rank(kind)].asked }

// API is what people call the discovery service of a kind: CDS, EDS … .
func API(kind graph.Kind) string { return types[rank(kind)].api }
