package cluster

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

// routed is a route to a cluster, by which the requests of clients reach it as they came.
type routed struct {
	*envoy.RouteLevel
	name    lint.At // of the cluster, in the route
	cluster *clusterv3.Cluster
	at      lint.At // the cluster
}

// eachRouted calls f for the routes to those clusters of the snapshot that a rule is about: few are, so that a run does not ask for the clusters of
// all routes. It leaves out routes whose requests always pass filters that may change them.
func eachRouted(about func(p *lint.Pass, c *clusterv3.Cluster, at lint.At) bool, f func(p *lint.Pass, r routed)) lint.Check {
	return lint.EachResource(func(p *lint.Pass, cluster *graph.Resource) {
		c, ok := cluster.Message.(*clusterv3.Cluster)
		if !ok || !about(p, c, cluster.At()) || len(p.Snapshot.Named(graph.Cluster, cluster.Name)) != 1 {
			return
		}
		for _, r := range lint.Shared(p, routesKey{}, func() map[string][]routed { return routesTo(p) })[cluster.Name] {
			r.cluster, r.at = c, cluster.At()
			f(p, r)
		}
	}, graph.Cluster)
}

type routesKey struct{}

// routesTo returns the routes to clusters, by their names.
func routesTo(p *lint.Pass) map[string][]routed {
	all := map[string][]routed{}
	managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
		r := routed{RouteLevel: l, name: l.At.Field("route", "cluster")}
		name := l.Route.GetRoute().GetCluster()
		if l.Cluster != nil {
			name, r.name = l.Cluster.GetName(), l.At.Field("name")
		}
		if name != "" && slices.ContainsFunc(users, passesAsTheyCame) {
			all[name] = append(all[name], r)
		}
	})
	return all
}

// inspectors are the listener filters that only look at what a client sends.
var inspectors = []string{"envoy.filters.listener.tls_inspector", "envoy.filters.listener.http_inspector"}

// passesAsTheyCame reports whether it is certain that nothing changes the headers and the metadata of the requests to a connection manager.
func passesAsTheyCame(m managers.Manager) bool {
	l, _ := graph.Around[*listenerv3.Listener](m.At.Place)
	chain, _ := graph.Around[*listenerv3.FilterChain](m.At.Place)
	return len(m.Message.GetEarlyHeaderMutationExtensions()) == 0 && len(chain.GetFilters()) == 1 &&
		!slices.ContainsFunc(m.Filters, func(f envoy.HTTPFilter) bool { return !f.Passive() }) &&
		!slices.ContainsFunc(l.GetListenerFilters(), func(f *listenerv3.ListenerFilter) bool { return !slices.Contains(inspectors, f.GetName()) })
}
