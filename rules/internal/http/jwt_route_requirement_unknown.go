package http

import (
	"fmt"

	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-route-requirement-unknown",
	Severity: lint.Error,
	Summary:  "a route names a requirement that jwt_authn does not have, and its requests get 403",
	Links: []string{
		"FilterConfigImpl::findPerRouteVerifier (source/extensions/filters/http/jwt_authn/filter_config.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/jwt_authn_filter",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		reported := map[*envoy.RouteLevel]bool{}
		for _, m := range all {
			for _, f := range m.Filters {
				config, ok := f.Config.(*jwtv3.JwtAuthentication)
				if !ok {
					continue
				}
				for l := range m.Routes.Levels {
					s := l.Filter(f.Message.GetName(), f.Message.GetDisabled())
					if l.Route != nil && !reported[s.Level] && wrongRequirement(p, s, config) {
						reported[s.Level] = true
					}
				}
			}
		}
	}),
})

// wrongRequirement reports whether the requests of a route get 403, and reports that.
func wrongRequirement(p *lint.Pass, s envoy.FilterState, config *jwtv3.JwtAuthentication) bool {
	own, ok := s.Config.(*jwtv3.PerRouteConfig)
	name := own.GetRequirementName()
	if !ok || s.Off || name == "" || config.GetRequirementMap()[name] != nil {
		return false
	}
	at := s.At.Field("requirement_name")
	near := nearRequirement(p, config, name)
	p.Report(at, lint.Diagnostic{
		Message: fmt.Sprintf("the jwt_authn filter does not have a requirement named %q", name),
		Notes:   []string{"Envoy accepts it, and answers each request with 403, whatever its token is"},
		Help:    requirementHelp(near),
		Fixes:   lint.Correct(at, name, near),
	})
	return true
}
