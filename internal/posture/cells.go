package posture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/internal/walk"
)

type maker struct {
	walker   *walk.Walker
	bounds   map[*routev3.VirtualHost]walk.Boundaries
	policies []*Policy
	report   *Report
	doubts   map[string]bool
	cells    map[string]*Cell // of the listener, by what distinguishes them
	ranks    map[any]int      // of filter chains and virtual hosts, in the order in which they occur
}

// listener makes the cells and the holes of one listener.
func (m *maker) listener(l walk.Listener) error {
	m.cells, m.ranks = map[string]*Cell{}, map[any]int{}
	for _, connection := range m.connections(l) {
		if err := m.connection(connection); err != nil {
			return err
		}
	}
	all := slices.SortedFunc(maps.Values(m.cells), func(a, b *Cell) int {
		return cmp.Or(slices.Compare(a.rank[:], b.rank[:]), cmp.Compare(a.With, b.With), compareTexts(*a.Way.Sent.Path, *b.Way.Sent.Path))
	})
	split(all)
	m.report.Cells = append(m.report.Cells, all...)
	return m.holes(all)
}

// split marks the cells of routes that have several.
func split(all []*Cell) {
	count := map[[3]int]int{}
	for _, c := range all {
		if c.With == "" {
			count[c.rank]++
		}
	}
	for _, c := range all {
		c.Split = c.With == "" && count[c.rank] > 1
	}
}

// compareTexts puts what people write first: short texts, in lower case.
func compareTexts(a, b string) int {
	return cmp.Or(len(a)-len(b), cmp.Compare(strings.ToLower(a), strings.ToLower(b)), -cmp.Compare(a, b))
}

// connections returns a request for each filter chain that a client can get to.
func (m *maker) connections(l walk.Listener) (all []Way) {
	seen := map[string]bool{}
	host, path := anyHost, "/"
	try := func(q walk.Request) {
		way, err := m.walk(&q)
		if err != nil || way.Manager == nil || seen[way.Chain] {
			return
		}
		seen[way.Chain] = true
		all = append(all, way)
	}
	for _, proxied := range []*walk.Proxied{nil, {}} {
		q := walk.Request{Listener: l, Method: "GET", Authority: &host, Path: &path, ProxyProtocol: proxied}
		try(q)
		q.TLS, q.ALPN = true, []string{"http/1.1"}
		for _, q.SNI = range append([]string{""}, m.bounds[nil].ServerNames...) {
			try(q)
		}
	}
	return all
}

// walk follows a request, and notes why its route is not known.
func (m *maker) walk(q *walk.Request) (Way, error) {
	g, err := m.walker.Guards(q)
	if err != nil {
		return Way{}, err
	}
	for _, field := range []string{"chain", "route"} {
		if why := g.Unknown[field]; why != "" && !m.doubts[why] {
			m.doubts[why] = true
			m.report.Unknown = append(m.report.Unknown, why)
		}
	}
	return Way{q, g}, nil
}

// connection makes the cells of one filter chain: of each domain, and of the hosts that policies name.
func (m *maker) connection(first Way) error {
	seen := map[string]bool{}
	try := func(authority string, host *routev3.VirtualHost) error {
		if seen[authority] {
			return nil
		}
		seen[authority] = true
		return m.host(first, authority, m.bounds[host], m.bounds[nil])
	}
	for level := range first.Routes.Levels {
		if level.Host == nil || level.Route != nil {
			continue
		}
		for _, domain := range level.Host.GetDomains() {
			if err := try(hostOf(domain), level.Host); err != nil {
				return err
			}
		}
	}
	for _, p := range m.policies {
		q := *first.Sent
		q.Authority = &p.sample
		way, err := m.walk(&q)
		if err == nil && way.Host != nil {
			err = try(p.sample, way.Host.Host)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const anyHost = "any.test"

// hostOf returns a host that a domain takes.
func hostOf(domain string) string {
	switch {
	case domain == "*":
		return anyHost
	case strings.HasSuffix(domain, "*"):
		return strings.TrimSuffix(domain, "*") + "test"
	}
	return strings.Replace(domain, "*", "x", 1)
}

// maxVaried limits the requests with variations to one host. Above it, not every variation is tried on every path.
const maxVaried = 50_000

// host makes the cells of a host.
func (m *maker) host(first Way, authority string, b ...walk.Boundaries) error {
	base := *first.Sent
	base.Authority = &authority
	if base.TLS { // clients ask for the host if that gets them to the filter chain
		own := base
		own.SNI, _, _ = strings.Cut(authority, ":")
		if way, err := m.walk(&own); err == nil && way.Chain == first.Chain {
			base = own
		}
	}
	paths, variations := m.paths(authority, b), variationsOf(first.Guarded, b)
	every := 1 + len(paths)*len(variations)/maxVaried
	for i, path := range paths {
		q := base
		q.Path = &path
		if err := m.visit(q, ""); err != nil {
			return err
		}
		for j := (every - i%every) % every; j < len(variations); j += every {
			varied := q
			variations[j].apply(&varied)
			if err := m.visit(varied, variations[j].name); err != nil {
				return err
			}
		}
	}
	return nil
}

// paths returns the paths at the boundaries, and those that policies name.
func (m *maker) paths(authority string, all []walk.Boundaries) []string {
	set := map[string]bool{}
	for _, b := range all {
		for _, path := range b.Paths {
			set[path] = true
		}
	}
	for _, p := range m.policies {
		for _, path := range p.paths(authority) {
			set[path] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), compareTexts)
}

// visit follows a request to its cell, and judges the policies.
func (m *maker) visit(q walk.Request, with string) error {
	way, err := m.walk(&q)
	if err != nil || way.Level == nil || len(way.Filters) == 0 || with != "" && !way.Forwards() {
		return err
	}
	for _, p := range m.policies {
		p.judge(way)
	}
	key := way.key()
	c := m.cells[key]
	if c == nil {
		c = &Cell{
			Listener: way.Listener, Chain: way.Chain, Host: way.Host.Host.GetName(), Paths: pathsOf(way.Level.Route.GetMatch()), Route: way.Route, With: with,
			Target: way.target(), Way: way, rank: [3]int{m.rank(way.Chain), m.rank(way.Host), way.Level.Index},
		}
		m.cells[key] = c
	}
	if !slices.Contains(c.Domains, way.Domain) {
		c.Domains = append(c.Domains, way.Domain)
	}
	return nil
}

// rank numbers what occurs, in its order.
func (m *maker) rank(of any) int {
	if _, ok := m.ranks[of]; !ok {
		m.ranks[of] = len(m.ranks)
	}
	return m.ranks[of]
}

// key is the same for all requests of a cell.
func (w Way) key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%p\n%d\n%s\n", w.Chain, w.Host, w.Level.Index, w.target())
	for _, g := range w.Guards {
		fmt.Fprintf(&b, "%s %s %s %s %v\n", g.Kind, g.Name, g.State, g.Why, g.At.Span())
	}
	return b.String()
}

// target is where the request goes.
func (w Way) target() string {
	switch {
	case w.Cluster != nil:
		return *w.Cluster
	case len(w.Weighted) > 0:
		return strings.Join(slices.Sorted(maps.Keys(w.Weighted)), ", ")
	case w.Forwards() && w.Target != "":
		return w.Target
	case w.Forwards():
		return "not known"
	case w.Status == nil:
		return "Envoy closes the connection"
	}
	return fmt.Sprintf("Envoy answers %d", *w.Status)
}

// pathsOf writes the paths that a route takes.
func pathsOf(m *routev3.RouteMatch) string {
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Path:
		return by.Path
	case *routev3.RouteMatch_Prefix:
		return by.Prefix + "*"
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return by.PathSeparatedPrefix + "[/*]"
	case *routev3.RouteMatch_SafeRegex:
		return "~" + by.SafeRegex.GetRegex()
	case *routev3.RouteMatch_ConnectMatcher_:
		return "CONNECT"
	case *routev3.RouteMatch_PathMatchPolicy:
		return "template"
	}
	return "*"
}
