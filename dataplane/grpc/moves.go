package grpc

import (
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// Move is a cluster to which a push moves RPCs, and which the routes of their channel did not name before. At that moment, grpc-go chooses it for
// RPCs before its balancer has it (ClientConn.updateResolverStateAndUnlock, clustermanager.pickerGroup.Pick).
type Move struct {
	Listener string
	Cluster  string
	To       graph.At        // the route
	From     *graph.Resource // has the routes before the push: a route configuration, or the listener
	Host     int             // the index of the virtual host there
}

// Moves returns the moves of all channels that are there before and after a push.
func (c Client) Moves(before, after graph.View) (all []Move) {
	for _, r := range before.All(graph.Listener) {
		old, from := c.tableOf(before, r)
		next, _ := c.tableOf(after, after.Pushed(graph.Listener, r.Name))
		if old.Config == nil || next.Config == nil || proto.Equal(old.Config, next.Config) {
			continue
		}
		was, is := HostsOf(old.Config), HostsOf(next.Config)
		type pair struct{ was, is int }
		seen := map[pair]bool{}
		authorities := append(was.authorities(), is.authorities()...)
		slices.Sort(authorities)
		for _, authority := range slices.Compact(authorities) {
			p := pair{was.Of(authority), is.Of(authority)}
			if p.was < 0 || p.is < 0 || seen[p] {
				continue
			}
			seen[p] = true
			for _, m := range moves(old.Config.GetVirtualHosts()[p.was], next.Config.GetVirtualHosts()[p.is], next.At.Item("virtual_hosts", p.is)) {
				m.Listener, m.From, m.Host = r.Name, from, p.was
				all = append(all, m)
			}
		}
	}
	return all
}

// TablesKept returns the route configurations of channels that are there before and after a push: the resources that have them before, and a
// listener of each.
func (c Client) TablesKept(before, after graph.View) map[*graph.Resource]string {
	all := map[*graph.Resource]string{}
	for _, r := range before.All(graph.Listener) {
		if _, in := c.tableOf(before, r); in != nil && all[in] == "" && after.Pushed(graph.Listener, r.Name) != nil {
			all[in] = r.Name
		}
	}
	return all
}

// tableOf returns the route configuration of the channels of a listener, and the resource that has it. It is empty if they have none.
func (c Client) tableOf(v graph.View, r *graph.Resource) (Table, *graph.Resource) {
	if r == nil {
		return Table{}, nil
	}
	l, ok := r.Message.(*listenerv3.Listener)
	if !ok || l.GetApiListener() == nil {
		return Table{}, nil
	}
	for _, m := range c.Managers(r.At(), l) {
		if inline := m.Config.GetRouteConfig(); inline != nil {
			return Table{m.At.Field("route_config"), inline, OfClient}, r
		}
		if table := v.Pushed(graph.RouteConfiguration, m.Config.GetRds().GetRouteConfigName()); table != nil {
			config, _ := table.Message.(*routev3.RouteConfiguration)
			return Table{table.At(), config, OfClient}, table
		}
	}
	return Table{}, nil
}

// moves returns the clusters that a virtual host newly names, except for routes that take only RPCs that no route took before.
func moves(old, next *routev3.VirtualHost, at graph.At) (all []Move) {
	known := map[string]bool{}
	for _, r := range old.GetRoutes() {
		for _, cluster := range Destinations(r) {
			known[cluster] = true
		}
	}
	was := old.GetRoutes()
	for j, r := range next.GetRoutes() {
		if j >= len(was) && slices.EqualFunc(was, next.GetRoutes()[:len(was)], func(a, b *routev3.Route) bool { return proto.Equal(a, b) }) {
			return all
		}
		for _, cluster := range Destinations(r) {
			if !known[cluster] {
				known[cluster] = true
				all = append(all, Move{Cluster: cluster, To: at.Item("routes", j)})
			}
		}
	}
	return all
}

// Destinations returns the clusters of a route to which a client sends RPCs. It leaves out routes that match query parameters, and members without
// a weight (routesProtoToSlice).
func Destinations(r *routev3.Route) (all []string) {
	if len(r.GetMatch().GetQueryParameters()) > 0 {
		return nil
	}
	if cluster := r.GetRoute().GetCluster(); cluster != "" {
		return []string{cluster}
	}
	for _, member := range r.GetRoute().GetWeightedClusters().GetClusters() {
		if member.GetWeight().GetValue() > 0 {
			all = append(all, member.GetName())
		}
	}
	return all
}
