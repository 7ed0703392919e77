package route

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// retrying is a route to clusters, with the retry policy that applies to it: its own, or else that of its virtual host. Envoy does not merge
// them.
type retrying struct {
	route  *routev3.Route
	action lint.At
	policy *routev3.RetryPolicy
	at     lint.At // the policy
	own    bool    // the policy is that of the route
}

// place returns where to report something about a field of the policy. A policy of the virtual host is right for other routes, perhaps.
func (r retrying) place(field string) lint.At {
	if r.own {
		return r.at.Field(field)
	}
	return r.action.Key()
}

// eachRetrying calls f for each route that has a retry policy.
func eachRetrying(f func(p *lint.Pass, r retrying)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, route *routev3.Route) {
		r := retrying{route: route, action: at.Field("route"), policy: route.GetRoute().GetRetryPolicy(), at: at.Field("route", "retry_policy"), own: true}
		if r.policy == nil {
			host, place := graph.Around[*routev3.VirtualHost](at.Place)
			if route.GetRoute() == nil || host.GetRetryPolicy() == nil {
				return
			}
			r.policy, r.at, r.own = host.GetRetryPolicy(), place.At().Field("retry_policy"), false
		}
		if _, ok := tableOf(p, at); ok && !clusterRetries(p, route.GetRoute()) {
			f(p, r)
		}
	})
}

// clusterRetries reports whether a cluster of a route has a retry policy of its own, which replaces that of the route.
func clusterRetries(p *lint.Pass, a *routev3.RouteAction) bool {
	names := []string{a.GetCluster()}
	for _, c := range a.GetWeightedClusters().GetClusters() {
		names = append(names, c.GetName())
	}
	for _, name := range names {
		r := p.Snapshot.Find(graph.Cluster, graph.Anywhere, name)
		if r == nil {
			continue
		}
		if c, ok := r.Message.(*clusterv3.Cluster); ok {
			if h, _ := envoy.UpstreamHTTPOf(r.At(), c); h.Typed.GetRetryPolicy() != nil {
				return true
			}
		}
	}
	return false
}
