package http

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "auth-exempt-prefix",
	Severity: lint.Warning,
	Summary:  "a path is exempt from authorization by a prefix that other paths have too",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routematch",
		"https://github.com/envoyproxy/envoy/issues/6435",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			for _, f := range m.Filters {
				if config, ok := f.Config.(*jwtv3.JwtAuthentication); ok {
					exemptRules(p, f.Own, config)
				}
			}
		}
		hosts := exemptions{}
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Route == nil || l.Cluster != nil || openPrefix(l.Route.GetMatch()) == "" {
				return
			}
			for _, m := range users {
				for _, f := range m.Filters {
					if f.Authorizes() && exempt(l, f) && hosts.guardedNext(l, f) {
						reportExempt(p, l.At.Field("match"), l.Route.GetMatch(), f.Message.GetName())
						return
					}
				}
			}
		})
	}),
})

// openPrefix returns the prefix of a match that does not end with the segment of a path.
func openPrefix(m *routev3.RouteMatch) string {
	if prefix := m.GetPrefix(); !strings.HasSuffix(prefix, "/") && len(m.GetHeaders()) == 0 {
		return prefix
	}
	return ""
}

func reportExempt(p *lint.Pass, at lint.At, m *routev3.RouteMatch, filter string) {
	p.Report(at.Field("prefix"), lint.Diagnostic{
		Message: fmt.Sprintf("%sx, and all other paths that begin so, pass without %s too", m.GetPrefix(), filter),
		Notes:   []string{"a prefix is compared as text, not by the segments of the path"},
		Help:    fmt.Sprintf("write path_separated_prefix: %s, which takes %[1]s, %[1]s/ and what is below", m.GetPrefix()),
		Fixes:   lint.Rename(at.Field("prefix").Key(), "path_separated_prefix").Likely("write path_separated_prefix"),
	})
}

// exemptRules reports rules of jwt_authn without a requirement, before one that has some for the paths next to theirs.
func exemptRules(p *lint.Pass, at lint.At, m *jwtv3.JwtAuthentication) {
	rules := newTokenRules(m)
	for i, rule := range m.GetRules() {
		if prefix := openPrefix(rule.GetMatch()); prefix != "" && !demands(rule) && rules.demand(prefix+"x", i+1) {
			reportExempt(p, at.Item("rules", i).Field("match"), rule.GetMatch(), "a token")
		}
	}
}

// exempt reports whether a route itself turns off a filter.
func exempt(l *envoy.RouteLevel, f envoy.HTTPFilter) bool {
	s := l.Filter(f.Message.GetName(), f.Message.GetDisabled())
	return s.Level == l && turnedOff(s)
}

func turnedOff(s envoy.FilterState) bool {
	switch m := s.Config.(type) {
	case *extauthzv3.ExtAuthzPerRoute:
		return s.Off || m.GetDisabled()
	case *jwtv3.PerRouteConfig:
		return s.Off || m.GetDisabled()
	case *rbacv3.RBACPerRoute:
		return s.Off || m.GetRbac() == nil
	}
	return s.Off
}

// exemptions finds the routes of virtual hosts by their prefixes, and keeps what it has found.
type exemptions map[*routev3.VirtualHost]map[string][]*envoy.RouteLevel

// guardedNext reports whether another route behind a given one, for which a filter runs, would take a path next to its own.
func (e exemptions) guardedNext(l *envoy.RouteLevel, f envoy.HTTPFilter) bool {
	byPrefix := e[l.Host]
	if byPrefix == nil {
		byPrefix = map[string][]*envoy.RouteLevel{}
		for _, r := range l.Around.Routes {
			if spec, ok := r.Route.GetMatch().GetPathSpecifier().(*routev3.RouteMatch_Prefix); ok {
				byPrefix[spec.Prefix] = append(byPrefix[spec.Prefix], r)
			}
		}
		e[l.Host] = byPrefix
	}
	var next *envoy.RouteLevel
	for path := l.Route.GetMatch().GetPrefix(); path != ""; path = path[:len(path)-1] {
		for _, r := range byPrefix[path] {
			if r.Index > l.Index && (next == nil || r.Index < next.Index) {
				next = r
			}
		}
	}
	return next != nil && !turnedOff(next.Filter(f.Message.GetName(), f.Message.GetDisabled()))
}
