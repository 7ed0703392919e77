package walk

import (
	"fmt"
	"math"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// table is a route configuration, ready for requests.
type table struct {
	message *routev3.RouteConfiguration
	at      graph.At
	domains match.Domains[domain]
	several bool // domains, so that a host is needed
}

// domain is a domain of a virtual host.
type domain struct {
	*host
	text string
}

// host is a virtual host.
type host struct {
	level  *envoy.RouteLevel
	routes routes
}

// routes are routes that are tried in their order.
type routes struct {
	matches match.Routes
	levels  []*envoy.RouteLevel
}

func (rs *routes) add(r *envoy.RouteLevel) {
	rs.levels = append(rs.levels, r)
	rs.matches.Append(match.NewRoute(r.Route, func(held *anypb.Any) proto.Message {
		content, _ := envoy.Content(r.At.Field("match", "path_match_policy", "typed_config"), held)
		return content
	}))
}

func newTable(t *envoy.RouteTable) *table {
	made := &table{message: t.Levels[0].Table, at: t.Levels[0].At, domains: match.Domains[domain]{IgnorePort: t.Levels[0].Table.GetIgnorePortInHostMatching()}}
	for _, l := range t.Levels {
		if l.Host == nil || l.Route != nil {
			continue
		}
		h := &host{level: l}
		for _, r := range l.Routes {
			h.routes.add(r)
		}
		for _, text := range l.Host.GetDomains() {
			made.domains.Add(text, domain{h, text})
			made.several = made.several || text != "*"
		}
	}
	return made
}

// tableOf returns a prepared route configuration.
func (w *Walker) tableOf(t *envoy.RouteTable) *table {
	message := t.Levels[0].Table
	if w.tables[message] == nil {
		w.tables[message] = newTable(t)
	}
	return w.tables[message]
}

// choose finds the route. Without one, the filters still see the request.
func (j *journey) choose() bool {
	if !j.findTable() {
		return false
	}
	if j.table == nil {
		return true // of a scope that does not exist
	}
	return j.findHost()
}

// findHost finds the virtual host, and in it the route.
func (j *journey) findHost() bool {
	j.answer.Table, j.answer.At.Table = j.table.message.GetName(), j.table.at
	name, has := j.hostName()
	if j.table.several && !has {
		return true
	}
	found, ok := j.table.domains.Find(name)
	if !ok {
		if j.table.message.GetVhds() != nil {
			j.answer.doubt(unknownRoute, "virtual hosts come over VHDS")
			return j.lost()
		}
		return true
	}
	j.host, j.answer.VirtualHost, j.answer.At.Host = found.host, found.level.Host.GetName(), found.level.At
	j.reach(found.level.Host, found.text)
	if j.guarded != nil {
		j.guarded.Host, j.guarded.Domain = found.level, found.text
	}
	switch by := found.level.Host.GetRequireTls(); {
	case by == routev3.VirtualHost_EXTERNAL_ONLY && j.conn.anywhere && j.needsTLS():
		j.answer.doubt(unknownRoute, "the virtual host redirects clients that are not internal, and the address of the client is not known")
		return j.lost()
	case j.needsTLS():
		j.redirect = true
		return true
	}
	if found.level.Host.GetMatcher() != nil {
		return j.findByMatcher()
	}
	return j.findRoute(&found.routes)
}

// findByMatcher takes a route that the matcher of the virtual host chooses, or the first of a list that fits (VirtualHostImpl::getRouteFromEntries).
func (j *journey) findByMatcher() bool {
	around := j.host.level
	found, fits := j.decide(around.Host.GetMatcher(), around.At.Field("matcher"))
	switch fits {
	case match.No:
		return j.specified()
	case match.Perhaps:
		j.answer.doubt(unknownRoute, "a matcher chooses the route, by what is not known")
		return j.lost()
	}
	content, at := found.content()
	var list []*routev3.Route
	place := func(i int) graph.At { return at.Item("routes", i) }
	switch m := content.(type) {
	case *routev3.Route:
		list, place = []*routev3.Route{m}, func(int) graph.At { return at }
	case *routev3.RouteList:
		list = m.GetRoutes()
	default:
		j.answer.doubt(unknownRoute, "a matcher chooses the route by an extension")
		return j.lost()
	}
	routes := &routes{}
	for i, r := range list {
		routes.add(&envoy.RouteLevel{
			At: place(i), Around: around, Configs: r.GetTypedPerFilterConfig(), Table: around.Table, Host: around.Host, Route: r, Index: i,
		})
	}
	return j.findRoute(routes)
}

// hostName returns what chooses the virtual host: the host, or a header.
func (j *journey) hostName() (string, bool) {
	if by := j.table.message.GetVhostHeader(); by != "" {
		all := j.headers.values(by)
		return strings.Join(all[:min(len(all), 1)], ""), len(all) > 0
	}
	return j.headers.get(authority)
}

// findTable finds the route configuration.
func (j *journey) findTable() bool {
	m := j.manager
	if m.message.GetScopedRoutes() != nil {
		return j.findScope()
	}
	if len(m.routes.Tables) != 1 {
		j.answer.doubt(unknownRoute, fmt.Sprintf("the route configuration %q is not in the input", m.message.GetRds().GetRouteConfigName()))
		return j.lost()
	}
	j.table = j.tableOf(m.routes.Tables[0])
	return true
}

// needsTLS follows VirtualHostImpl::getRouteFromEntries.
func (j *journey) needsTLS() bool {
	if j.headers.value(forwardedProto) == "https" {
		return false
	}
	switch j.host.level.Host.GetRequireTls() {
	case routev3.VirtualHost_ALL:
		return true
	case routev3.VirtualHost_EXTERNAL_ONLY:
		return j.headers.value(internalHeader) != "true"
	}
	return false
}

// findRoute takes the first route that fits.
func (j *journey) findRoute(rs *routes) bool {
	q := j.asked()
	candidates := rs.matches.Candidates(q.Plain)
	if q.Plain != q.Path { // templates see the path with its parameters
		candidates = append(candidates, rs.matches.Candidates(q.Path)...)
		slices.Sort(candidates)
		candidates = slices.Compact(candidates)
	}
	var others otherPaths
	if !j.Brief {
		others = otherPaths{n: rs.matches.Len() - len(candidates), some: without(rs.levels, candidates)}
	}
	for _, i := range candidates {
		j.Compared++
		fits, miss := rs.matches.At(i).Fit(q)
		level := rs.levels[i]
		switch {
		case fits == match.Yes:
			j.level, j.answer.Route, j.answer.At.Route = level, RouteName(level), level.At
			j.reach(j.level.Route, "")
			j.passOthers(others)
			return j.specified() && j.pick()
		case fits == match.Perhaps:
			j.answer.doubt(unknownRoute, fmt.Sprintf("route %q depends on %s", RouteName(level), describe(miss)))
			return j.lost()
		case j.Brief:
		case miss.What == "path":
			others.n++
			others.some = append(others.some, level)
		default:
			j.answer.Passed = append(j.answer.Passed, Passed{Kind: "route", Name: RouteName(level), Why: describe(miss) + " does not fit", At: level.At})
		}
	}
	j.passOthers(others)
	return j.specified()
}

// specified reports whether no extension replaces the route that was found, or that there is none.
func (j *journey) specified() bool {
	if len(j.table.message.GetRouteSpecifiers())+len(j.host.level.Host.GetRouteSpecifiers()) == 0 && (j.level == nil || len(j.level.Route.GetRouteSpecifiers()) == 0) {
		return true
	}
	j.answer.doubt(unknownRoute, "a route specifier can replace it")
	return j.lost()
}

// otherPaths are the routes that have other paths.
type otherPaths struct {
	n    int
	some []*envoy.RouteLevel
}

// maxSome limits the routes with other paths that are named.
const maxSome = 20

// without returns the first routes that are not among some candidates, which are in order.
func without(routes []*envoy.RouteLevel, candidates []int) (some []*envoy.RouteLevel) {
	for i := 0; i < len(routes) && len(some) < maxSome; i++ {
		if len(candidates) > 0 && candidates[0] == i {
			candidates = candidates[1:]
			continue
		}
		some = append(some, routes[i])
	}
	return some
}

// passOthers notes how many routes have other paths, and the first of them.
func (j *journey) passOthers(others otherPaths) {
	if others.n == 0 {
		return
	}
	slices.SortFunc(others.some, func(a, b *envoy.RouteLevel) int { return a.Index - b.Index })
	j.answer.Passed = append(j.answer.Passed, Passed{
		Kind: "route", Name: fmt.Sprintf("%d more", others.n), Why: "the path does not fit", Some: others.some[:min(len(others.some), maxSome)], more: others.n,
	})
}

func describe(m match.Miss) string {
	if m.Name == "" {
		return "the " + m.What
	}
	return fmt.Sprintf("the %s %q", m.What, m.Name)
}

// RouteName returns the name of a route, or its place.
func RouteName(l *envoy.RouteLevel) string {
	if name := l.Route.GetName(); name != "" {
		return name
	}
	return fmt.Sprintf("routes[%d]", l.Index)
}

// asked returns the request as routes see it.
func (j *journey) asked() *match.Request {
	p, has := j.headers.get(path)
	q := &match.Request{
		Path: withoutQuery(p), Pathless: !has, Header: j.matchable(j.headers), Cookie: j.cookie, TLS: j.certificate, Share: j.share,
		Connect:  j.headers.value(method) == "CONNECT" || strings.EqualFold(j.headers.value("upgrade"), "connect-udp"),
		Metadata: j.metadata,
	}
	q.Plain = q.Path
	if j.table != nil && j.table.message.GetIgnorePathParametersInPathMatching() { // a scope that does not exist does not have a table
		q.Plain = j.withoutParameters(q.Path)
	}
	_, query := splitQuery(p)
	parameters := parseQuery(query)
	q.Parameter = func(name string) (string, bool) {
		value, ok := parameters[name]
		return value, ok
	}
	return q
}

// matchable returns the values of a header that matchers look at.
func (w *Walker) matchable(h *headers) func(name string) []string {
	if w.runtime.Guard("envoy.reloadable_features.match_headers_individually", true) {
		return h.values
	}
	return func(name string) []string {
		if all, ok := h.get(name); ok {
			return []string{all}
		}
		return nil
	}
}

// withoutParameters removes what follows a semicolon in each segment of a path.
func (w *Walker) withoutParameters(p string) string {
	if !w.runtime.Guard("envoy.reloadable_features.strip_path_parameters_per_segment", true) {
		p, _, _ = strings.Cut(p, ";")
		return p
	}
	segments := strings.Split(p, "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	return strings.Join(segments, "/")
}

// parseQuery follows QueryParamsMulti::parseQueryString: the first value of each name, as it is written.
func parseQuery(query string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		name, value, _ := strings.Cut(part, "=")
		if _, ok := all[name]; !ok && query != "" {
			all[name] = value
		}
	}
	return all
}

// cookie follows Utility::parseCookieValue.
func (j *journey) cookie(name string) (string, bool) {
	for _, header := range j.headers.values("cookie") {
		for part := range strings.SplitSeq(header, ";") {
			if own, value, ok := strings.Cut(strings.TrimLeft(part, " \t"), "="); ok && own == name {
				return strings.Trim(value, `"`), true
			}
		}
	}
	return "", false
}

func (j *journey) certificate(property string) (string, bool) {
	if property == "presented" {
		return fmt.Sprint(j.conn.presented), true
	}
	return fmt.Sprint(j.conn.validated), true
}

// share reports whether a request is in a part of the traffic (SnapshotImpl::featureEnabled).
func (j *journey) share(key string, numerator, denominator uint64) match.Overlap {
	if j.lookup != nil {
		return j.lookup.share(key, numerator, denominator)
	}
	return j.Share(key, numerator, denominator)
}

// Share reports whether all requests are in a part of the traffic, or none, or perhaps some.
func (w *Walker) Share(key string, numerator, denominator uint64) match.Overlap {
	if set := w.runtime.Integer(key, math.MaxUint64); key != "" && set != math.MaxUint64 {
		numerator, denominator = set, 100
	}
	switch {
	case numerator >= denominator:
		return match.Yes
	case numerator == 0:
		return match.No
	}
	return match.Perhaps
}
