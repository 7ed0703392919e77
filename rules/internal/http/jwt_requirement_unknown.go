package http

import (
	"fmt"
	"maps"
	"slices"

	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-requirement-unknown",
	Severity: lint.Error,
	Summary:  "a rule of jwt_authn names a requirement that is not in requirement_map",
	Links:    []string{"FilterConfigImpl::FilterConfigImpl (source/extensions/filters/http/jwt_authn/filter_config.cc)"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *jwtv3.JwtAuthentication) {
		for i, rule := range m.GetRules() {
			name := rule.GetRequirementName()
			if name == "" || m.GetRequirementMap()[name] != nil {
				continue
			}
			own := at.Item("rules", i).Field("requirement_name")
			near := nearRequirement(p, m, name)
			p.Reject(own, lint.Rejection{
				Message:  fmt.Sprintf("no requirement is named %q", name),
				Help:     requirementHelp(near),
				Upstream: fmt.Sprintf("Wrong requirement_name: %s.", name),
				Fixes:    lint.Correct(own, name, near),
			})
		}
	}),
})

// nearRequirement returns the requirement of a filter that was probably meant.
func nearRequirement(p *lint.Pass, m *jwtv3.JwtAuthentication, name string) string {
	return p.Nearest(name, func() []string { return slices.Sorted(maps.Keys(m.GetRequirementMap())) })
}

func requirementHelp(near string) string {
	if near == "" {
		return "add it to requirement_map of the filter"
	}
	return fmt.Sprintf("did you mean %q?", near)
}
