package envoy

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// route is one of a virtual host, and what it takes.
type route struct {
	message *routev3.Route
	takes   *match.Route
}

func newRoute(r *routev3.Route) route { return route{r, match.NewRoute(r, nil)} }

// routesMeet tells whether some request goes to the last route of both lists, past those before it.
func routesMeet(a, b []route) bool {
	x, y := a[len(a)-1].takes, b[len(b)-1].takes
	both := x.And(y)
	return x.Meets(y) != match.No && !taken(a[:len(a)-1], both) && !taken(b[:len(b)-1], both)
}

// upTo lists the routes that are asked before a route, and the route.
func upTo(routes []route, r *routev3.Route) []route {
	if i := slices.IndexFunc(routes, func(each route) bool { return each.message == r }); i >= 0 {
		return routes[:i+1]
	}
	return []route{newRoute(r)} // of a matcher
}

// taken tells whether one of the routes gets all requests that fit another one.
func taken(routes []route, others *match.Route) bool {
	return slices.ContainsFunc(routes, func(r route) bool { return r.takes.Shadows(others) })
}
