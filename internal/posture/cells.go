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
	all      *walk.Boundaries // of all matchers
	policies []*Policy
	report   *Report
	doubts   map[string]bool
	cells    map[string]*Cell // of the listener, by what distinguishes them
	ranks    map[any]int      // of filter chains and virtual hosts, in the order in which they occur
	walks    int              // so far
	most     int
}

// enough reports whether there were so many walks that the report is partial.
func (m *maker) enough(most int) bool {
	m.report.Partial = m.report.Partial || m.walks >= most
	return m.walks >= most
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
	chains := m.walker.Chains(l)
	for _, proxied := range []*walk.Proxied{nil, {}} {
		q := walk.Request{Listener: l, Method: "GET", Authority: &host, Path: &path, ProxyProtocol: proxied}
		try(q)
		q.TLS, q.ALPN = true, []string{"http/1.1"}
		for _, q.SNI = range append([]string{""}, m.all.ServerNames...) {
			try(q)
		}
		for _, c := range chains {
			q := *walk.Toward(c)
			q.Listener, q.Authority, q.Path, q.ProxyProtocol = l, &host, &path, proxied
			try(q)
		}
	}
	return all
}

// walk follows a request, and notes why its route is not known.
func (m *maker) walk(q *walk.Request) (Way, error) {
	m.walks++
	g, err := m.walker.Guards(q)
	if err != nil {
		return Way{}, err
	}
	for _, field := range []string{"chain", "route"} {
		if why := g.Unknown[field]; why != "" {
			m.doubt(why)
		}
	}
	return Way{q, g, m.all}, nil
}

// doubt notes why something is not known.
func (m *maker) doubt(why string) {
	if !m.doubts[why] {
		m.doubts[why] = true
		m.report.Unknown = append(m.report.Unknown, why)
	}
}

// connection makes the cells of one filter chain: of each domain, and of the hosts that policies name.
func (m *maker) connection(first Way) error {
	seen := map[string]*routev3.VirtualHost{}
	var order []string
	add := func(authority string, host *routev3.VirtualHost) {
		if seen[authority] == nil {
			seen[authority] = host
			order = append(order, authority)
		}
	}
	for level := range first.Routes.Levels {
		if level.Host == nil || level.Route != nil {
			continue
		}
		for _, domain := range level.Host.GetDomains() {
			add(hostOf(domain), level.Host)
		}
	}
	for _, p := range m.policies {
		q := *first.Sent
		q.Authority = &p.sample
		way, err := m.walk(&q)
		if err != nil {
			return err
		}
		if way.Host != nil {
			add(p.sample, way.Host.Host)
		}
	}
	limit := max(leastTried, min(maxTried, (triedInAll-m.walks)/2))
	for _, authority := range order {
		if err := m.host(first, authority, m.bounds[seen[authority]], 1+limit/len(order)); err != nil {
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

// Above these limits, not every path of every host is tried, and not every variation on every path.
const (
	maxTried    = 200_000   // requests of one filter chain, and again those with variations
	triedInAll  = 1_000_000 // of which each filter chain takes half of what is left at most
	leastTried  = 100
	comparisons = 100 // with routes, for each of these requests
)

const tooMany = "there are too many hosts and paths to try all of them"

// host makes the cells of a host, with about as many requests as a limit allows.
func (m *maker) host(first Way, authority string, b walk.Boundaries, limit int) error {
	base := *first.Sent
	base.Authority = &authority
	if base.TLS { // clients ask for the host if that gets them to the filter chain
		own := base
		own.SNI, _, _ = strings.Cut(authority, ":")
		if way, err := m.walk(&own); err == nil && way.Chain == first.Chain {
			base = own
		}
	}
	if m.enough(m.most / 2) {
		return nil
	}
	if every := 1 + len(b.Paths)/limit; every > 1 {
		m.doubt(tooMany)
		b.Paths = thinned(b.Paths, every)
	}
	paths, compared, most := m.paths(authority, b), m.walker.Compared, limit*comparisons
	for i, path := range paths {
		if m.walker.Compared-compared > most {
			m.doubt(tooMany)
			paths = paths[:i]
			break
		}
		if err := m.visit(withPath(&base, path), ""); err != nil {
			return err
		}
	}
	forWalk := 1 + (m.walker.Compared-compared)/max(len(paths), 1)
	return m.variations(&base, paths, variationsOf(first.Guarded, b), min(limit, 1+most/forWalk))
}

// variations makes the cells of varied requests. Above a limit, it takes not every variation of each path, and each with about as many paths.
func (m *maker) variations(base *walk.Request, paths []string, all []variation, limit int) error {
	every := 1 + len(paths)*len(all)/limit
	if every > 1 {
		m.doubt("there are too many paths, headers and queries to try each path with all of them")
	}
	for i, path := range paths {
		for j := (every - i%every) % every; j < len(all); j += every {
			varied := withPath(base, path)
			all[j].apply(&varied)
			if err := m.visit(varied, all[j].name); err != nil {
				return err
			}
		}
	}
	return nil
}

// thinned returns each nth item of a list.
func thinned(all []string, n int) (some []string) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// paths returns the paths at the boundaries, and those that policies name.
func (m *maker) paths(authority string, b walk.Boundaries) []string {
	set := map[string]bool{}
	for _, path := range b.Paths {
		set[path] = true
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
	if m.enough(m.most / 2) {
		return nil
	}
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
