package route

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "redirect-loop",
	Severity: lint.Warning,
	Summary:  "a redirect leads to a URL that the same route redirects again",
	Links:    []string{"Utility::newUri (source/common/http/utility.cc)"},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		hosts := hostRoutes{}
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Route.GetRedirect() == nil || l.Cluster != nil || l.Host.GetMatcher() != nil || !onlyPath(l.Route.GetMatch()) {
				return
			}
			if slices.ContainsFunc(users, func(m managers.Manager) bool { return sameServer(l.Route.GetRedirect(), m) }) && hosts.returns(l) && !unknown(l.At.Field("redirect")) {
				p.Report(l.At.Field("redirect"), lint.Diagnostic{
					Message: "this route redirects to a URL that it redirects again",
					Notes:   []string{"Envoy does not compare the new URL with the one that was requested; browsers give up after about 20 redirects"},
					Help:    "match fewer requests, redirect to another host or port, or write a route for the new path before this one",
				})
			}
		})
	}),
})

// unknown reports whether a redirect has fields that are not known: these may say more than the others.
func unknown(at lint.At) bool {
	return slices.ContainsFunc(at.Resource().ProblemsIn(at.Path()), func(p graph.Problem) bool { return p.Kind == graph.UnknownField })
}

// onlyPath reports whether a match selects requests by nothing but their path.
func onlyPath(m *routev3.RouteMatch) bool {
	return len(m.GetHeaders())+len(m.GetQueryParameters())+len(m.GetCookies())+len(m.GetDynamicMetadata())+len(m.GetFilterState()) == 0 &&
		m.GetGrpc() == nil && m.GetTlsContext() == nil && m.GetRuntimeFraction() == nil
}

// sameServer reports whether a redirect leads back to the filter chain of a manager: it keeps the host and the port, and the scheme is that of the chain.
func sameServer(r *routev3.RedirectAction, m managers.Manager) bool {
	switch {
	case r.GetHostRedirect() != "" || r.GetPortRedirect() != 0:
		return false
	case toHTTPS(r):
		return secure(m)
	}
	return r.GetSchemeRedirect() == ""
}

func toHTTPS(r *routev3.RedirectAction) bool {
	return r.GetHttpsRedirect() || strings.EqualFold(r.GetSchemeRedirect(), "https")
}

// hostRoutes keeps the routes of virtual hosts.
type hostRoutes map[*routev3.VirtualHost]*match.Routes

// returns reports whether the path to which a route redirects is its own again.
func (hosts hostRoutes) returns(l *envoy.RouteLevel) bool {
	path, changed := newPath(l.Route)
	if !changed {
		return true
	}
	target := match.NewRoute(&routev3.Route{Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: path}}}, nil)
	routes := hosts[l.Host]
	if routes == nil {
		routes = &match.Routes{}
		for _, r := range l.Host.GetRoutes() {
			routes.Append(match.NewRoute(r, nil))
		}
		hosts[l.Host] = routes
	}
	return !target.Never() && routes.Takes(l.Index, target)
}

// newPath returns the path to which a route redirects. For a rewritten prefix, that is the path of a request for the prefix itself. It is empty if it is not
// known.
func newPath(r *routev3.Route) (path string, changed bool) {
	switch by := r.GetRedirect().GetPathRewriteSpecifier().(type) {
	case nil:
		return "", false
	case *routev3.RedirectAction_PathRedirect:
		path, _, _ = strings.Cut(by.PathRedirect, "?")
	case *routev3.RedirectAction_PrefixRewrite:
		path = by.PrefixRewrite
	}
	return path, true
}
