package prove

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/diff"
	"github.com/xdslint/xdslint/internal/walk"
)

// host is a virtual host of one side, or none.
type host struct {
	level   *envoy.RouteLevel // nil: none
	around  int               // what the virtual host and its table do with the requests of all routes
	effects []int             // what each route does
	matches []int             // what each route matches
	routes  match.Routes
}

func (c *tables) hostOf(t *table, l *envoy.RouteLevel) *host {
	h := &host{level: l, around: -1}
	if l == nil {
		return h
	}
	h.around = c.key("around " + t.common + "\x00" + t.ofHost(l, c.hostNamed))
	for _, r := range l.Routes {
		h.effects = append(h.effects, c.key("effect "+t.ofRoute(r, c.routeNamed)))
		h.matches = append(h.matches, c.key("match "+canonical(r.At.Resource(), r.Route.GetMatch())))
		h.routes.Append(match.NewRoute(r.Route, func(held *anypb.Any) proto.Message {
			content, _ := envoy.Content(r.At.Field("match", "path_match_policy", "typed_config"), held)
			return content
		}))
	}
	return h
}

// compareHosts compares the virtual hosts that take the requests of a host.
func (c *tables) compareHosts(authority string, x, y *envoy.RouteLevel) {
	a, b := c.hostOf(c.old, x), c.hostOf(c.now, y)
	if a.around == b.around && slices.Equal(a.effects, b.effects) && slices.Equal(a.matches, b.matches) {
		return
	}
	known := len(c.result.Differences)
	c.compareRoutes(c.wayTo(a, b), authority, a, b)
	if a.around == b.around || len(c.result.Differences) > known || c.distinguish(c.way, authority, nil) {
		return
	}
	c.undecided(c.aboutHosts(a, b) + ": " + c.reasonOf(a, b))
}

// wayTo returns the way of requests that a virtual host does not redirect to HTTPS.
func (c *tables) wayTo(hosts ...*host) way {
	w := c.way
	for _, h := range hosts {
		if h.level != nil && h.level.Host.GetRequireTls() != routev3.VirtualHost_NONE && !w.base.TLS {
			return w.with([]walk.Header{{"x-forwarded-proto", "https"}})
		}
	}
	return w
}

// aboutHosts names two virtual hosts.
func (c *tables) aboutHosts(a, b *host) string {
	l := b.level
	if l == nil {
		l = a.level
	}
	return fmt.Sprintf("%s, virtual host %s", c.what, l.Host.GetName())
}

// reasonOf says what differs around the routes of two virtual hosts.
func (c *tables) reasonOf(a, b *host) string {
	switch {
	case a.level == nil:
		return "only NEW has it"
	case b.level == nil:
		return "only OLD has it"
	}
	x, y := a.level, b.level
	found := diff.Fields(x.At.Resource(), y.At.Resource(), x.Host, y.Host, hostNames...)
	for _, field := range diff.Fields(x.At.Resource(), y.At.Resource(), x.Table, y.Table, tableNames[:4]...) {
		found = append(found, field+" of the route configuration")
	}
	if len(found) == 0 && x.Host.GetName() != y.Host.GetName() {
		found = []string{"name"}
	}
	return differs(found)
}

const hostPrefix = "envoy.config.route.v3.VirtualHost."

// hostNames are the fields of a virtual host that are compared elsewhere.
var hostNames = []string{hostPrefix + "name", hostPrefix + "domains", hostPrefix + "routes"}

// verdict is what is known about a pair of routes.
type verdict struct {
	differs bool // a request shows a difference
	asked   int  // examples
}

// maxAsked is for how many examples a pair of routes is asked.
const maxAsked = 12

// compareRoutes compares the routes of two virtual hosts.
func (c *tables) compareRoutes(w way, authority string, a, b *host) {
	lists := &match.Lists{
		A: &a.routes, B: &b.routes, Twins: c.twins(a, b), Share: c.old.walker.Share, Paths: c.values.Paths, Headers: c.values.Headers,
		IgnoresParameters: c.old.level.Table.GetIgnorePathParametersInPathMatching() || c.now.level.Table.GetIgnorePathParametersInPathMatching(),
		Alike: func(i, j int) bool {
			return i < 0 && j < 0 || i >= 0 && j >= 0 && a.around == b.around && a.effects[i] == b.effects[j]
		},
	}
	verdicts := map[[2]int]*verdict{}
	var order [][2]int
	for part, complete := range lists.Partings() {
		if !complete {
			c.undecided(c.aboutHosts(a, b) + ": there are too many combinations of conditions")
			continue
		}
		pair := [2]int{part.A, part.B}
		v := verdicts[pair]
		if v == nil {
			v = &verdict{}
			verdicts[pair] = v
			order = append(order, pair)
		}
		if part.Example != nil && !v.differs && v.asked < maxAsked && !c.full() {
			v.asked++
			v.differs = c.distinguish(w, authority, part.Example)
		}
	}
	for _, pair := range order {
		if v := verdicts[pair]; !v.differs && !c.full() {
			c.undecided(c.aboutHosts(a, b) + ": " + c.unresolved(a, b, pair, v))
		}
	}
}

// unresolved says what is not decided about a pair of routes.
func (c *tables) unresolved(a, b *host, pair [2]int, v *verdict) string {
	one, other := routeOf(a, pair[0]), routeOf(b, pair[1])
	names := fmt.Sprintf("%s of OLD and %s of NEW", nameOfRoute(one), nameOfRoute(other))
	switch {
	case v.asked == 0:
		return "whether a request takes " + names
	case one == nil || other == nil:
		return "no answer shows the difference between " + names
	}
	found := diff.Fields(one.At.Resource(), other.At.Resource(), one.Route, other.Route, routeNames...)
	if a.around != b.around {
		return "no answer shows the difference between " + names + ": " + c.reasonOf(a, b)
	}
	switch {
	case len(found) > 0:
	case c.routeNamed && one.Route.GetName() != other.Route.GetName():
		found = []string{"name"}
	default:
		found = []string{"clusters"}
	}
	return "no answer shows the difference between " + names + ": " + differs(found)
}

func routeOf(h *host, i int) *envoy.RouteLevel {
	if i < 0 {
		return nil
	}
	return h.level.Routes[i]
}

func nameOfRoute(l *envoy.RouteLevel) string {
	switch {
	case l == nil:
		return "no route"
	case l.Route.GetName() != "":
		return "route " + l.Route.GetName()
	}
	return fmt.Sprintf("routes[%d]", l.Index)
}

const routePrefix = "envoy.config.route.v3.Route."

// routeNames are the fields of a route that are compared elsewhere, or that requests do not notice.
var routeNames = []string{routePrefix + "name", routePrefix + "match", routePrefix + "stat_prefix"}

// twins returns, for each route of one host, the route of the other one with the same match and the same effect, or -1. They have the same order.
func (c *tables) twins(a, b *host) []int {
	type key struct{ match, effect int }
	places := map[key][]int{}
	if a.around == b.around {
		for j := range b.matches {
			k := key{b.matches[j], b.effects[j]}
			places[k] = append(places[k], j)
		}
	}
	candidates := make([]int, len(a.matches))
	for i := range a.matches {
		candidates[i] = -1
		k := key{a.matches[i], a.effects[i]}
		if list := places[k]; len(list) > 0 {
			candidates[i], places[k] = list[0], list[1:]
		}
	}
	return ascending(candidates)
}

// ascending keeps the longest sequence of places that ascends, and makes the others -1.
func ascending(places []int) []int {
	var ends []int // the indexes at which sequences of each length end, with the smallest places
	before := make([]int, len(places))
	for i, place := range places {
		if place < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, place, func(end, place int) int { return places[end] - place })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		}
		ends[n] = i
	}
	kept := make([]int, len(places))
	for i := range kept {
		kept[i] = -1
	}
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			kept[i] = places[i]
		}
	}
	return kept
}
