package http

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-rule-shadowed",
	Severity: lint.Warning,
	Summary:  "an earlier rule of jwt_authn matches every request of a later one",
	Links: []string{
		"FilterConfigImpl::findVerifier (source/extensions/filters/http/jwt_authn/filter_config.h)",
		"https://github.com/envoyproxy/envoy/issues/27162",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *jwtv3.JwtAuthentication) {
		var rules match.Routes
		for i, rule := range m.GetRules() {
			earlier := rules.Add(match.NewRoute(&routev3.Route{Match: rule.GetMatch()}, nil))
			if earlier < 0 {
				continue
			}
			first := m.GetRules()[earlier]
			note := "Envoy takes the first rule that matches"
			if first.GetRequires() == nil && first.GetRequirementName() == "" && (rule.GetRequires() != nil || rule.GetRequirementName() != "") {
				note += ", and that one requires nothing: these requests need no token"
			}
			p.Report(at.Item("rules", i).Field("match"), lint.Diagnostic{
				Message: fmt.Sprintf("rule %d never applies: rule %d matches all of its requests", i+1, earlier+1),
				Notes:   []string{note},
				Help:    "write the more specific rule first",
				Related: []lint.Related{lint.RelatedTo(at.Item("rules", earlier).Field("match"), "this rule comes first")},
				Fixes:   lint.Swap(at.Item("rules", earlier), at.Item("rules", i)).Likely("exchange the two rules"),
			})
		}
	}),
})
