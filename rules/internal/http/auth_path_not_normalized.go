package http

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "auth-path-not-normalized",
	Severity: lint.Warning,
	Summary:  "paths below a prefix are exempt from authorization, but /../ in a path is not resolved before",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/best_practices/edge",
		"https://github.com/envoyproxy/envoy/issues/6435",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			if m.Message.GetNormalizePath().GetValue() || m.Message.GetPathNormalizationOptions() != nil {
				continue
			}
			exemption, filter, found := exemptPrefix(m)
			if !found {
				continue
			}
			p.Report(m.At.Field("normalize_path"), lint.Diagnostic{
				Message: "a path such as /exempt/../protected passes without " + filter,
				Notes:   []string{"Envoy compares the path as the client wrote it, and the upstream may resolve it to the protected one"},
				Help:    "set normalize_path: true",
				Fixes:   lint.Insert(m.At, "normalize_path", true).Likely("add normalize_path: true"),
				Related: []lint.Related{lint.RelatedTo(exemption, "this prefix is exempt")},
			})
		}
	}),
})

// exemptPrefix returns a prefix that is exempt from one of the filters of a manager, which runs for other paths.
func exemptPrefix(m managers.Manager) (at lint.At, filter string, found bool) {
	filters := slices.DeleteFunc(slices.Clone(m.Filters), func(f envoy.HTTPFilter) bool { return !f.Authorizes() })
	if len(filters) == 0 {
		return at, "", false
	}
	for _, f := range filters {
		config, ok := f.Config.(*jwtv3.JwtAuthentication)
		if !ok {
			continue
		}
		rules := newTokenRules(config)
		for i, rule := range config.GetRules() {
			if below(rule.GetMatch()) && !demands(rule) && rules.demand("/", i+1) {
				return f.Own.Item("rules", i).Field("match"), "a token", true
			}
		}
	}
	for l := range m.Routes.Levels {
		if l.Route == nil || l.Cluster != nil || !below(l.Route.GetMatch()) {
			continue
		}
		for _, f := range filters {
			if exempt(l, f) && !turnedOff(l.Around.Filter(f.Message.GetName(), f.Message.GetDisabled())) {
				return l.At.Field("match"), f.Message.GetName(), true
			}
		}
	}
	return at, "", false
}

// below reports whether a match takes the paths below a prefix, and not all.
func below(m *routev3.RouteMatch) bool {
	return len(m.GetPrefix()) > 1 || m.GetPathSeparatedPrefix() != ""
}
