package http

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "auth-path-exact",
	Severity: lint.Info,
	Summary:  "an authorization filter protects a path, but not the same path with a slash at its end",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/security/secure_by_default",
		"https://github.com/envoyproxy/envoy/issues/6435",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			if !guards(m) {
				continue
			}
			asIs := func(path string) string { return path }
			all := pathsOf(m.Routes, asIs, func(*routev3.Route) bool { return true })
			eachGuarded(p, m, func(g guarded) {
				path := g.text + "/"
				routes := slices.DeleteFunc(all.byPrefix(g.text), func(l *envoy.RouteLevel) bool { return l.Route.GetRoute() == nil })
				if !g.exact || strings.HasSuffix(g.text, "/") || len(all.exact[path]) > 0 || len(routes) == 0 || g.protects(path) {
					return
				}
				p.Report(g.at, lint.Diagnostic{
					Message: fmt.Sprintf("%s is not protected, and the same route takes it", path),
					Notes:   []string{"the comparison is exact; many servers answer both paths alike"},
					Help:    "compare a prefix, or add the path with the slash",
					Related: []lint.Related{lint.RelatedTo(routes[0].At.Field("match"), "this route takes both")},
				})
			})
		}
	}),
})
