package walk

import (
	"maps"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
)

// Boundaries are the values at which the matchers of a configuration change their mind: values that fit, and values next to them that do not.
type Boundaries struct {
	Authorities, Paths, Queries, ServerNames, Protocols []string
	Headers                                             map[string][]string // by name
}

// collector gathers values without repetition.
type collector struct {
	authorities, paths, queries, names, protocols map[string]bool
	headers                                       map[string]map[string]bool
}

func newCollector() *collector {
	return &collector{map[string]bool{}, map[string]bool{"/": true}, map[string]bool{"": true}, map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}}
}

// BoundariesOf returns the boundaries of all matchers of some snapshots, in an order that depends on the snapshots alone.
func BoundariesOf(all ...graph.View) Boundaries {
	c := newCollector()
	for _, v := range all {
		gather(v, func(*graph.Place) *collector { return c })
	}
	return c.boundaries()
}

// HostBoundaries are the boundaries for a virtual host: those of the matchers in it, and of those that are not in any.
type HostBoundaries struct {
	Host *routev3.VirtualHost // nil: there are no virtual hosts
	Boundaries
}

// BoundariesByHost returns the boundaries for each virtual host, in their order. Without virtual hosts, there are only those of the other matchers.
func BoundariesByHost(v graph.View) (all []HostBoundaries) {
	outside, hosts := newCollector(), map[*routev3.VirtualHost]*collector{}
	var order []*routev3.VirtualHost
	gather(v, func(p *graph.Place) *collector {
		host, in := graph.Around[*routev3.VirtualHost](p)
		switch {
		case in == nil:
			return outside
		case hosts[host] == nil:
			hosts[host] = newCollector()
			order = append(order, host)
		}
		return hosts[host]
	})
	shared := outside.boundaries()
	for _, host := range order {
		hosts[host].join(outside)
		b := hosts[host].boundaries()
		b.ServerNames, b.Protocols = shared.ServerNames, shared.Protocols
		all = append(all, HostBoundaries{host, b})
	}
	if len(all) == 0 {
		all = []HostBoundaries{{Boundaries: shared}}
	}
	return all
}

// gather collects the values of all matchers, each in the collector of its place.
func gather(v graph.View, of func(*graph.Place) *collector) {
	each(v, of, (*collector).host)
	each(v, of, (*collector).match)
	each(v, of, (*collector).header)
	each(v, of, (*collector).query)
	each(v, of, (*collector).chain)
	each(v, of, (*collector).template)
	each(v, of, (*collector).path)
}

// boundaries returns what was collected.
func (c *collector) boundaries() Boundaries {
	b := Boundaries{
		Authorities: sorted(c.authorities), Paths: sorted(c.paths), Queries: sorted(c.queries), ServerNames: sorted(c.names), Protocols: sorted(c.protocols),
		Headers: map[string][]string{},
	}
	for name, values := range c.headers {
		b.Headers[name] = sorted(values)
	}
	return b
}

// join adds what another collector has. Server names and protocols are never in a virtual host.
func (c *collector) join(other *collector) {
	maps.Copy(c.authorities, other.authorities)
	maps.Copy(c.paths, other.paths)
	maps.Copy(c.queries, other.queries)
	for name, values := range other.headers {
		if c.headers[name] == nil {
			c.headers[name] = map[string]bool{}
		}
		maps.Copy(c.headers[name], values)
	}
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// each calls f with all messages of a type.
func each[M proto.Message](v graph.View, of func(*graph.Place) *collector, f func(*collector, M)) {
	var zero M
	for _, place := range v.Places(zero.ProtoReflect().Descriptor().FullName()) {
		if m, ok := graph.As[M](place); ok {
			f(of(place), m)
		}
	}
}

func add(set map[string]bool, values ...string) {
	for _, value := range values {
		set[value] = true
	}
}

func (c *collector) host(m *routev3.VirtualHost) {
	for _, domain := range m.GetDomains() {
		plain := strings.Trim(domain, "*.")
		if plain == "" {
			plain = "any.test"
		}
		add(c.authorities, plain, "x."+plain, "x.y."+plain, plain+".x", plain+":8080", strings.ToUpper(plain), plain+".", "x"+plain)
	}
}

func (c *collector) match(m *routev3.RouteMatch) {
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		add(c.paths, around(by.Prefix)...)
	case *routev3.RouteMatch_Path:
		add(c.paths, around(by.Path)...)
	case *routev3.RouteMatch_PathSeparatedPrefix:
		add(c.paths, around(by.PathSeparatedPrefix)...)
	case *routev3.RouteMatch_SafeRegex:
		add(c.paths, samples(by.SafeRegex.GetRegex())...)
	}
}

// around returns paths at the boundary of a path or prefix.
func around(p string) (all []string) {
	if p == "" {
		return []string{"/"}
	}
	all = []string{p, p + "x", strings.TrimSuffix(p, "/") + "/", strings.TrimSuffix(p, "/") + "/x", strings.ToUpper(p), p + ";v=1", p + ";v=1/x"}
	if len(p) > 1 {
		all = append(all, p[:len(p)-1])
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, "/") })
}

// path gathers the paths that an HTTP filter compares.
func (c *collector) path(m *matcherv3.PathMatcher) {
	for _, value := range textValues(m.GetPath()) {
		if strings.HasPrefix(value, "/") {
			add(c.paths, value, strings.TrimSuffix(value, "/")+"/", strings.TrimSuffix(value, "/")+"/x")
		}
	}
}

func (c *collector) template(m *uritemplatev3.UriTemplateMatchConfig) {
	p := templateSample(m.GetPathTemplate())
	add(c.paths, p, p+"/", p+"/x", strings.TrimSuffix(p, "x"))
}

// templateSample returns a path that fits a template.
func templateSample(template string) string {
	var b strings.Builder
	for template != "" {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			break
		}
		variable, after, _ := strings.Cut(rest, "}")
		_, pattern, ok := strings.Cut(variable, "=")
		if !ok {
			pattern = "*"
		}
		b.WriteString(pattern)
		template = after
	}
	return strings.NewReplacer("**", "a/b", "*", "vx").Replace(b.String())
}

func (c *collector) header(m *routev3.HeaderMatcher) {
	name := ascii.Lower(m.GetName())
	if c.headers[name] == nil {
		c.headers[name] = map[string]bool{"other": true, "": true}
	}
	add(c.headers[name], headerValues(m)...)
	if name == path {
		for _, value := range headerValues(m) {
			if strings.HasPrefix(value, "/") {
				add(c.paths, value)
			}
		}
	}
}

func headerValues(m *routev3.HeaderMatcher) []string {
	switch s := m.GetHeaderMatchSpecifier().(type) { // Envoy still takes what is deprecated
	case *routev3.HeaderMatcher_StringMatch:
		return textValues(s.StringMatch)
	case *routev3.HeaderMatcher_ExactMatch:
		return near(s.ExactMatch)
	case *routev3.HeaderMatcher_PrefixMatch:
		return near(s.PrefixMatch)
	case *routev3.HeaderMatcher_SuffixMatch:
		return near(s.SuffixMatch)
	case *routev3.HeaderMatcher_ContainsMatch:
		return near(s.ContainsMatch)
	case *routev3.HeaderMatcher_SafeRegexMatch:
		return samples(s.SafeRegexMatch.GetRegex())
	case *routev3.HeaderMatcher_RangeMatch:
		return numbers(s.RangeMatch.GetStart(), s.RangeMatch.GetEnd())
	}
	return nil
}

// textValues returns values at the boundary of a matcher.
func textValues(m *matcherv3.StringMatcher) []string {
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		return near(p.Exact)
	case *matcherv3.StringMatcher_Prefix:
		return near(p.Prefix)
	case *matcherv3.StringMatcher_Suffix:
		return near(p.Suffix)
	case *matcherv3.StringMatcher_Contains:
		return near(p.Contains)
	case *matcherv3.StringMatcher_SafeRegex:
		return samples(p.SafeRegex.GetRegex())
	}
	return nil
}

func near(s string) []string {
	all := []string{s, s + "x", "x" + s, "x" + s + "x", strings.ToUpper(s)}
	if len(s) > 1 {
		all = append(all, s[:len(s)-1], s[1:])
	}
	return all
}

func (c *collector) query(m *routev3.QueryParameterMatcher) {
	name := m.GetName()
	add(c.queries, "?"+name, "?"+name+"=", "?other=1", "?x"+name+"=1")
	for _, value := range textValues(m.GetStringMatch()) {
		add(c.queries, "?"+name+"="+value, "?a=1&"+name+"="+value, "?"+name+"=other&"+name+"="+value)
	}
}

func (c *collector) chain(m *listenerv3.FilterChainMatch) {
	for _, name := range m.GetServerNames() {
		plain := strings.TrimPrefix(name, "*.")
		add(c.names, plain, "x."+plain, "x.y."+plain, strings.ToUpper(plain))
	}
	add(c.protocols, m.GetApplicationProtocols()...)
}
