package http

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "auth-path-case",
	Severity: lint.Warning,
	Summary:  "a route ignores the case of a path, but its protection does not",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routematch",
		"https://github.com/envoyproxy/envoy/issues/6435",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			if !guards(m) {
				continue
			}
			insensitive := pathsOf(m.Routes, strings.ToLower, ignoresCase)
			if len(insensitive.prefixes)+len(insensitive.exact) == 0 {
				continue
			}
			eachGuarded(p, m, func(g guarded) {
				path, lower := strings.ToUpper(g.text), strings.ToLower(g.text)
				routes := append(insensitive.exact[lower], insensitive.byPrefix(lower)...)
				if path == g.text || g.ignoreCase || len(routes) == 0 || g.protects(path) {
					return
				}
				p.Report(g.at, lint.Diagnostic{
					Message: fmt.Sprintf("a request for %s is not protected, but its route takes it", path),
					Notes:   []string{"this comparison depends on the case of letters, and that of the route does not"},
					Help:    "ignore the case here too: case_sensitive: false in jwt_authn, ignore_case: true in rbac; or keep it in the route",
					Related: []lint.Related{lint.RelatedTo(routes[0].At.Field("match", "case_sensitive"), "this route ignores the case")},
				})
			})
		}
	}),
})

func ignoresCase(r *routev3.Route) bool {
	return r.GetMatch().GetCaseSensitive() != nil && !r.GetMatch().GetCaseSensitive().GetValue()
}
