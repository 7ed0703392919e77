package http

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "path-template-invalid",
	Severity: lint.Error,
	Summary:  "a rule of jwt_authn or RBAC matches paths with a malformed template",
	Links:    []string{"parsePathPatternSyntax (source/extensions/path/uri_template_lib/uri_template_internal.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *jwtv3.RequirementRule) {
		check.MatchTemplate(p, at.Field("match", "path_match_policy"), m.GetMatch().GetPathMatchPolicy())
	}), read.Of(func(p *lint.Pass, at lint.At, m *rbacv3.Permission) {
		if !envoy.RulesIgnored(at.Place) {
			check.MatchTemplate(p, at.Field("uri_template"), m.GetUriTemplate())
		}
	})),
})
