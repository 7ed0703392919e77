package route

import (
	"slices"
	"strconv"
	"time"

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
	policy *routev3.RetryPolicy // nil: none
	at     lint.At              // the policy
	own    bool                 // the policy is that of the route
}

func retryingOf(at lint.At, route *routev3.Route, hostAt lint.At, host *routev3.VirtualHost) retrying {
	r := retrying{route: route, action: at.Field("route"), policy: route.GetRoute().GetRetryPolicy(), at: at.Field("route", "retry_policy"), own: true}
	if r.policy == nil {
		r.policy, r.at, r.own = host.GetRetryPolicy(), hostAt.Field("retry_policy"), false
	}
	return r
}

// place returns where to report something about a field of the policy. A policy of the virtual host is right for other routes, perhaps.
func (r retrying) place(field string) lint.At {
	if r.own {
		return r.at.Field(field)
	}
	return r.action.Key()
}

// timesOut reports whether a try can end before the timeout of the route does.
func (r retrying) timesOut() bool {
	timeout, known := envoy.RouteTimeout(r.route.GetRoute())
	perTry := r.policy.GetPerTryTimeout().AsDuration()
	return perTry > 0 && (!known || timeout == 0 || perTry < timeout)
}

// eachRetrying calls f for each route that has a retry policy.
func eachRetrying(f func(p *lint.Pass, r retrying)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, route *routev3.Route) {
		r := lint.Here(p, retryingKey{}, at.Place, func() *retrying { return retries(p, at, route) })
		if r != nil {
			f(p, *r)
		}
	})
}

type retryingKey struct{}

// retries returns the retry policy that applies to a route to clusters, or nil if there is none.
func retries(p *lint.Pass, at lint.At, route *routev3.Route) *retrying {
	host, place := graph.Around[*routev3.VirtualHost](at.Place)
	if route.GetRoute() == nil || place == nil {
		return nil
	}
	r := retryingOf(at, route, place.At(), host)
	if r.policy == nil {
		return nil
	}
	if _, ok := tableOf(p, at); !ok || clusterRetries(p, route.GetRoute()) {
		return nil
	}
	return &r
}

// clusterRetries reports whether a cluster of a route has a retry policy of its own, which replaces that of the route.
func clusterRetries(p *lint.Pass, a *routev3.RouteAction) bool {
	all, _ := upstreamsOf(p, a)
	return slices.ContainsFunc(all, func(u upstream) bool {
		h, _ := envoy.UpstreamHTTPOf(u.at, u.cluster)
		return h.Typed.GetRetryPolicy() != nil
	})
}

// seconds writes a duration as configurations do.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }
