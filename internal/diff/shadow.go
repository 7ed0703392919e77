package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// Shadowed is a route that differs and that no request reaches in one or both of the snapshots.
type Shadowed struct {
	Where  Where  `json:"where"`
	Change string `json:"change"` // "added", "removed" or "changed" while it never matches; "stops matching", "starts matching"
	// By is the route before it that takes every request. It is empty for a path that no request can have.
	By string `json:"by,omitempty"`
}

// candidate is a route in a virtual host.
type candidate struct {
	message *routev3.Route
	takes   *match.Route
	shadow  *shadow // nil if requests reach the route
}

// shadow is the reason why no request reaches a route.
type shadow struct {
	by     *routev3.Route // the route that takes its requests; nil if it cannot have any
	at     int            // the index of that route
	path   string         // of the virtual host
	digest string         // of the route itself
}

// routesOf compares the routes of a virtual host.
func (s *side) routesOf(in *graph.Resource, m *routev3.VirtualHost) []candidate {
	if known, ok := s.routes[m]; ok {
		return known
	}
	var all []candidate
	var routes match.Routes
	open := func(a *anypb.Any) proto.Message { return in.Contents[a] }
	for _, r := range m.GetRoutes() {
		one := candidate{message: r, takes: match.NewRoute(r, open)}
		switch by := routes.Add(one.takes); {
		case by >= 0:
			one.shadow = &shadow{by: m.GetRoutes()[by], at: by, digest: held{in, r}.digest()}
		case one.takes.Never():
			one.shadow = &shadow{digest: held{in, r}.digest()}
		}
		if all = append(all, one); one.shadow != nil {
			s.dark[r] = true
		}
	}
	s.routes[m] = all
	return all
}

// inShadow reports whether a reference is part of a route that no request reaches.
func (s *side) inShadow(e *graph.Edge) bool {
	route := e.Place.Enclosing("envoy.config.route.v3.Route")
	host := e.Place.Enclosing("envoy.config.route.v3.VirtualHost")
	if route == nil || host == nil {
		return false
	}
	m, ok := host.Message.Interface().(*routev3.VirtualHost)
	if !ok {
		return false
	}
	s.routesOf(e.From, m)
	return s.dark[route.Message.Interface()]
}

// serves reports whether traffic reaches a resource, other than by routes that no request reaches.
func (s *side) serves(r *graph.Resource) bool {
	return s.snapshot.Serves(r) && (s.lit == nil || s.lit[r])
}

// litResources returns the resources that references outside of shadows lead to, or nil if there are no shadows.
func (s *side) litResources() map[*graph.Resource]bool {
	if !slices.ContainsFunc(s.snapshot.References(), s.inShadow) {
		return nil
	}
	found := map[*graph.Resource]bool{}
	var next []*graph.Resource
	for _, r := range s.snapshot.Resources {
		if r.Kind == graph.Listener || r.Kind == graph.Bootstrap || len(s.snapshot.To(r)) == 0 {
			next = append(next, r)
		}
	}
	for ; len(next) > 0; next = next[1:] {
		if found[next[0]] {
			continue
		}
		found[next[0]] = true
		for _, e := range s.snapshot.From(next[0]) {
			if e.To != nil && !found[e.To] && !s.inShadow(e) {
				next = append(next, e.To)
			}
		}
	}
	return found
}

// shadows records the routes that differ and that no request reaches, in hosts that both sides have.
func (c *comparison) shadows() {
	places := map[Where]bool{}
	for _, s := range []*side{c.from, c.to} {
		for w := range s.shadowed {
			if !c.skip(w, "action") && c.from.byKey[key{w.host(), "host"}] != nil && c.to.byKey[key{w.host(), "host"}] != nil {
				places[w] = true
			}
		}
	}
	for w := range places {
		if change := c.shadowChange(w); change != "" {
			c.result.Shadowed = append(c.result.Shadowed, Shadowed{Where: w, Change: change, By: cmp.Or(c.to.shadowed[w], c.from.shadowed[w]).describe()})
		}
	}
	slices.SortFunc(c.result.Shadowed, func(a, b Shadowed) int { return compareWhere(a.Where, b.Where) })
}

func (c *comparison) shadowChange(w Where) string {
	old, now := c.from.shadowed[w], c.to.shadowed[w]
	switch {
	case old != nil && now != nil && old.digest == now.digest:
		return ""
	case old != nil && now != nil:
		return "changed"
	case now != nil && c.from.hasRoute(w):
		return "stops matching"
	case now != nil:
		return "added"
	case c.to.hasRoute(w):
		return "starts matching"
	}
	return "removed"
}

func (s *side) hasRoute(w Where) bool { return s.byKey[key{w, "action"}] != nil }

// inBothShadows reports whether a place belongs to a route that no request reaches on either side.
func (c *comparison) inBothShadows(w Where) bool {
	return c.from.shadowed[w] != nil && c.to.shadowed[w] != nil
}

// describe names the route that takes the requests.
func (s *shadow) describe() string {
	if s.by == nil {
		return ""
	}
	return fmt.Sprintf("%sroutes[%d] (%s)", s.path, s.at, specifier(s.by.GetMatch()))
}

// specifier describes how a route matches paths, with the name of the field.
func specifier(m *routev3.RouteMatch) string {
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return fmt.Sprintf("prefix %q", p.Prefix)
	case *routev3.RouteMatch_Path:
		return fmt.Sprintf("path %q", p.Path)
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return fmt.Sprintf("path_separated_prefix %q", p.PathSeparatedPrefix)
	case *routev3.RouteMatch_SafeRegex:
		return fmt.Sprintf("safe_regex %q", p.SafeRegex.GetRegex())
	case *routev3.RouteMatch_ConnectMatcher_:
		return "connect_matcher"
	}
	return "path_match_policy"
}

// shadowed explains for each route, with all its hosts, why it does not match.
func (d *Difference) shadowed() (lines []string) {
	hosts := map[Shadowed][]string{}
	var order []Shadowed
	for _, s := range d.Shadowed {
		host := s.Where.Host
		s.Where.Host = ""
		if hosts[s] == nil {
			order = append(order, s)
		}
		hosts[s] = append(hosts[s], host)
	}
	for _, s := range order {
		lines = append(lines, fmt.Sprintf("route %s of %s (%s) %s", s.Where.Route, list(hosts[s]), s.Where.inner(), s.sentence()))
	}
	return lines
}

func (s Shadowed) sentence() string {
	because := "paths begin with a slash and are compared without their query"
	was := because
	if s.By != "" {
		because, was = s.By+" takes every request before it", s.By+" took every request before it"
	}
	switch s.Change {
	case "stops matching":
		return "no longer matches: " + because
	case "starts matching":
		return "matches now; until now " + was
	case "removed":
		return "is removed, and never matched: " + was
	}
	return "is " + s.Change + ", and never matches: " + because
}

// writeShadowed writes the shadowed routes for people.
func (d *Difference) writeShadowed(b *strings.Builder) {
	for _, line := range d.shadowed() {
		b.WriteString(line + "\n")
	}
}
