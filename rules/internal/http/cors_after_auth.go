package http

import (
	"cmp"
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	apikeyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/api_key_auth/v3"
	basicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"
	corsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cors-after-auth",
	Severity: lint.Warning,
	Summary:  "cors comes behind a filter that rejects requests without credentials, such as the preflights of browsers",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/cors_filter",
		"https://fetch.spec.whatwg.org/#cors-protocol-and-credentials",
		"https://github.com/istio/istio/issues/29425",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			cors := slices.IndexFunc(m.Filters, func(f envoy.HTTPFilter) bool { return f.Kind == "cors" })
			for i := 0; i < cors; i++ {
				if route := preflighted(m.Filters[i], m.Filters[cors], m.Routes); route != nil {
					reportPreflight(p, m.Filters[i], m.Filters[cors], route)
					break
				}
			}
		}
	}),
})

func reportPreflight(p *lint.Pass, auth, cors envoy.HTTPFilter, route *envoy.RouteLevel) {
	p.Report(cors.At, lint.Diagnostic{
		Message: fmt.Sprintf("browsers cannot use this CORS policy: %q rejects their preflights before cors answers them", auth.Message.GetName()),
		Notes:   []string{"a preflight is an OPTIONS request without credentials; if it gets 401, the browser does not send the request itself"},
		Help:    "move cors before the filters that authorize requests",
		Related: []lint.Related{lint.RelatedTo(auth.At, "this filter comes first"), lint.RelatedTo(route.At, "a route with a CORS policy")},
		Fixes:   lint.Swap(auth.At, cors.At).Likely("exchange the two filters"),
	})
}

// enoughRoutes bounds the comparisons of a route with all routes before it.
const enoughRoutes = 10

// preflighted returns a route that has a CORS policy, and for which a filter before cors certainly rejects preflights.
func preflighted(auth, cors envoy.HTTPFilter, routes envoy.Routes) *envoy.RouteLevel {
	rejects := rejectsPreflights(auth)
	if rejects == nil {
		return nil
	}
	tried := 0
	for l := range routes.Levels {
		if l.Route == nil || l.Cluster != nil || !hasPolicy(l, cors) {
			continue
		}
		s, preflight := l.Filter(auth.Message.GetName(), auth.Message.GetDisabled()), preflightOf(l.Route)
		if s.Off || !rejects(preflight, s) {
			continue
		}
		if takesPreflight(l, preflight) {
			return l
		}
		if tried++; tried == enoughRoutes {
			return nil
		}
	}
	return nil
}

// preflightOf is a route that takes the preflights for the path or the prefix of a route.
func preflightOf(r *routev3.Route) *match.Route {
	method := &routev3.HeaderMatcher{Name: ":method", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
		StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: "OPTIONS"}},
	}}
	path := &routev3.RouteMatch_Path{Path: cmp.Or(r.GetMatch().GetPath(), r.GetMatch().GetPrefix())}
	return match.NewRoute(&routev3.Route{Match: &routev3.RouteMatch{PathSpecifier: path, Headers: []*routev3.HeaderMatcher{method}}}, nil)
}

// takesPreflight reports whether it is certain that a route takes a preflight, and no earlier route does.
func takesPreflight(l *envoy.RouteLevel, preflight *match.Route) bool {
	for _, earlier := range l.Around.Routes[:l.Index] {
		if match.NewRoute(earlier.Route, nil).Meets(preflight) != match.No {
			return false
		}
	}
	return match.NewRoute(l.Route, nil).Covers(preflight)
}

// hasPolicy reports whether the cors filter answers preflights for a route.
func hasPolicy(l *envoy.RouteLevel, cors envoy.HTTPFilter) bool {
	s := l.Filter(cors.Message.GetName(), cors.Message.GetDisabled())
	policy, ok := s.Config.(*corsv3.CorsPolicy)
	enabled := policy.GetFilterEnabled()
	return ok && !s.Off && len(policy.GetAllowOriginStringMatch()) > 0 && (enabled == nil || enabled.GetDefaultValue().GetNumerator() > 0)
}

// rejectsPreflights returns whether a filter rejects a preflight for a route, or nil if that is not certain for any: a query or a cookie can have
// credentials too.
func rejectsPreflights(f envoy.HTTPFilter) func(*match.Route, envoy.FilterState) bool {
	switch m := f.Config.(type) {
	case *basicv3.BasicAuth:
		if !m.GetAllowMissing() {
			return func(*match.Route, envoy.FilterState) bool { return true }
		}
	case *apikeyv3.ApiKeyAuth:
		return func(_ *match.Route, s envoy.FilterState) bool {
			own, _ := s.Config.(*apikeyv3.ApiKeyAuthPerRoute)
			return onlyHeaders(m.GetKeySources()) && onlyHeaders(own.GetKeySources())
		}
	case *jwtv3.JwtAuthentication:
		if !m.GetBypassCorsPreflight() && tokensInHeaders(m) {
			return demandsOf(m)
		}
	}
	return nil
}

func onlyHeaders(sources []*apikeyv3.KeySource) bool {
	return !slices.ContainsFunc(sources, func(s *apikeyv3.KeySource) bool { return s.GetHeader() == "" })
}

func tokensInHeaders(m *jwtv3.JwtAuthentication) bool {
	for _, provider := range m.GetProviders() {
		if len(provider.GetFromParams())+len(provider.GetFromCookies()) > 0 {
			return false
		}
	}
	return true
}

// demandsOf returns whether a filter demands a token from a preflight.
func demandsOf(m *jwtv3.JwtAuthentication) func(*match.Route, envoy.FilterState) bool {
	var rules match.Routes
	for _, rule := range m.GetRules() {
		rules.Append(match.NewRoute(&routev3.Route{Match: rule.GetMatch()}, nil))
	}
	return func(preflight *match.Route, s envoy.FilterState) bool {
		switch own := s.Config.(type) {
		case nil:
		case *jwtv3.PerRouteConfig:
			return strict(m.GetRequirementMap()[own.GetRequirementName()])
		default:
			return false
		}
		i := rules.Taker(preflight)
		return i >= 0 && (strict(m.GetRules()[i].GetRequires()) || strict(m.GetRequirementMap()[m.GetRules()[i].GetRequirementName()]))
	}
}

// strict reports whether a requirement rejects requests without a token.
func strict(m *jwtv3.JwtRequirement) bool {
	switch {
	case m.GetProviderName() != "", m.GetProviderAndAudiences() != nil:
		return true
	case m.GetRequiresAll() != nil:
		return slices.ContainsFunc(m.GetRequiresAll().GetRequirements(), strict)
	}
	options := m.GetRequiresAny().GetRequirements()
	return len(options) > 0 && !slices.ContainsFunc(options, func(one *jwtv3.JwtRequirement) bool { return !strict(one) })
}
