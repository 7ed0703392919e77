package http

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	rbacfilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

// guarded is a path that an authorization filter protects by comparing text.
type guarded struct {
	at         lint.At // the text
	text       string
	exact      bool // the whole path; otherwise a prefix
	ignoreCase bool
	// protects reports whether the filter may also protect another path.
	protects func(path string) bool
}

// guards reports whether a manager has a filter that compares paths.
func guards(m managers.Manager) bool {
	return slices.ContainsFunc(m.Filters, func(f envoy.HTTPFilter) bool { return f.Kind == "jwt_authn" || f.Kind == "rbac" })
}

// eachGuarded calls f for the paths that the filters of a manager protect, apart from filters that some route turns off.
func eachGuarded(p *lint.Pass, m managers.Manager, f func(g guarded)) {
	for _, filter := range m.Filters {
		switch config := filter.Config.(type) {
		case *jwtv3.JwtAuthentication:
			guardedByTokens(filter.Own, config, f)
		case *rbacfilterv3.RBAC:
			guardedByPolicies(p, filter.Own, config, f)
		}
	}
}

func guardedByTokens(at lint.At, m *jwtv3.JwtAuthentication, f func(g guarded)) {
	rules := newTokenRules(m)
	for i, rule := range m.GetRules() {
		if !demands(rule) || len(rule.GetMatch().GetHeaders()) > 0 {
			continue
		}
		g := guarded{at: at.Item("rules", i).Field("match"), ignoreCase: rule.GetMatch().GetCaseSensitive() != nil && !rule.GetMatch().GetCaseSensitive().GetValue()}
		g.protects = func(path string) bool { return rules.demand(path, 0) }
		switch spec := rule.GetMatch().GetPathSpecifier().(type) {
		case *routev3.RouteMatch_Path:
			g.at, g.text, g.exact = g.at.Field("path"), spec.Path, true
		case *routev3.RouteMatch_Prefix:
			g.at, g.text = g.at.Field("prefix"), spec.Prefix
		case *routev3.RouteMatch_PathSeparatedPrefix:
			g.at, g.text = g.at.Field("path_separated_prefix"), spec.PathSeparatedPrefix
		default:
			continue
		}
		f(g)
	}
}

// tokenRules are the rules of a jwt_authn filter.
type tokenRules struct {
	rules   []*jwtv3.RequirementRule
	matches []*match.Route
}

func newTokenRules(m *jwtv3.JwtAuthentication) tokenRules {
	t := tokenRules{rules: m.GetRules()}
	for _, rule := range m.GetRules() {
		t.matches = append(t.matches, match.NewRoute(&routev3.Route{Match: rule.GetMatch()}, nil))
	}
	return t
}

// demand reports whether the first of the rules from some index on that can match a path demands a token.
func (t tokenRules) demand(path string, from int) bool {
	sample := exactly(path)
	for i := from; i < len(t.rules); i++ {
		if t.matches[i].Meets(sample) != match.No {
			return demands(t.rules[i])
		}
	}
	return false
}

func demands(rule *jwtv3.RequirementRule) bool {
	return rule.GetRequires() != nil || rule.GetRequirementName() != ""
}

// exactly is a route that takes the requests for one path.
func exactly(path string) *match.Route {
	return match.NewRoute(&routev3.Route{Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: path}}}, nil)
}

func guardedByPolicies(p *lint.Pass, at lint.At, m *rbacfilterv3.RBAC, f func(g guarded)) {
	var all []guarded
	conditionsOf(p, at, m, func(_ *lint.Pass, c condition) {
		text := c.path.GetPath()
		switch {
		case !c.escapes:
		case text.GetExact() != "":
			all = append(all, guarded{at: c.at.Field("path", "exact"), text: text.GetExact(), exact: true, ignoreCase: text.GetIgnoreCase()})
		case text.GetPrefix() != "":
			all = append(all, guarded{at: c.at.Field("path", "prefix"), text: text.GetPrefix(), ignoreCase: text.GetIgnoreCase()})
		}
	})
	for _, g := range all {
		g.protects = func(path string) bool {
			for _, other := range all {
				if other.matches(path) {
					return true
				}
			}
			return false
		}
		f(g)
	}
}

func (g guarded) matches(path string) bool {
	text := g.text
	if g.ignoreCase {
		text, path = strings.ToLower(text), strings.ToLower(path)
	}
	return text == path || !g.exact && strings.HasPrefix(path, text)
}

// routePaths finds the routes that take a path by its prefixes, since there can be thousands of them.
type routePaths struct {
	prefixes map[string][]*envoy.RouteLevel
	exact    map[string][]*envoy.RouteLevel
}

// pathsOf returns the routes that are selected by a path or a prefix. key is applied to both.
func pathsOf(routes envoy.Routes, key func(string) string, use func(*routev3.Route) bool) routePaths {
	r := routePaths{map[string][]*envoy.RouteLevel{}, map[string][]*envoy.RouteLevel{}}
	for l := range routes.Levels {
		if l.Route == nil || l.Cluster != nil || !use(l.Route) {
			continue
		}
		switch spec := l.Route.GetMatch().GetPathSpecifier().(type) {
		case *routev3.RouteMatch_Path:
			r.exact[key(spec.Path)] = append(r.exact[key(spec.Path)], l)
		case *routev3.RouteMatch_Prefix:
			r.prefixes[key(spec.Prefix)] = append(r.prefixes[key(spec.Prefix)], l)
		}
	}
	return r
}

// byPrefix returns the routes whose prefix a path has, the longest prefix first.
func (r routePaths) byPrefix(path string) (all []*envoy.RouteLevel) {
	for n := len(path); n >= 0; n-- {
		all = append(all, r.prefixes[path[:n]]...)
	}
	return all
}
