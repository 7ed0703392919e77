package envoy

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// route is a route of a virtual host and the requests that it matches.
type route struct {
	message *routev3.Route
	takes   *match.Route
}

func newRoute(r *routev3.Route) route { return route{r, match.NewRoute(r, nil)} }

// routesMeet reports whether a request can go to the last route of both lists, past the earlier routes.
func routesMeet(a, b []route) bool {
	x, y := a[len(a)-1].takes, b[len(b)-1].takes
	both := x.And(y)
	return x.Meets(y) != match.No && !taken(a[:len(a)-1], both) && !taken(b[:len(b)-1], both)
}

// upTo returns the routes before a route in their order, and the route itself.
func upTo(routes []route, r *routev3.Route) []route {
	if i := slices.IndexFunc(routes, func(each route) bool { return each.message == r }); i >= 0 {
		return routes[:i+1]
	}
	return []route{newRoute(r)} // r is an action of a matcher
}

// taken reports whether one of the routes matches all requests that another route matches.
func taken(routes []route, others *match.Route) bool {
	return slices.ContainsFunc(routes, func(r route) bool { return r.takes.Shadows(others) })
}
