package http

import (
	"fmt"
	"slices"
	"strings"

	rbacfilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "claim-header-early",
	Severity: lint.Warning,
	Summary:  "rbac or a rate limit reads a header for a claim before jwt_authn has written it",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/jwt_authn/v3/config.proto#envoy-v3-api-field-extensions-filters-http-jwt-authn-v3-jwtprovider-claim-to-headers",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			for i, f := range m.Filters {
				if config, ok := f.Config.(*rbacfilterv3.RBAC); ok {
					conditionsOf(p, f.Own, config, func(_ *lint.Pass, c condition) {
						if writer := laterClaims(m, i, c.header.GetName()); writer != nil {
							reportClaim(p, c.at, c.header.GetName(), *writer)
						}
					})
				}
			}
		}
		managers.EachLevelOfKinds(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			for _, limit := range l.OwnRateLimits() {
				for i, action := range limit.Message.GetActions() {
					name := action.GetRequestHeaders().GetHeaderName()
					for _, m := range users {
						if writer := laterClaims(m, lastIndex(m.Filters, limits), name); writer != nil {
							reportClaim(p, limit.At.Item("actions", i).Field("request_headers", "header_name"), name, *writer)
							break
						}
					}
				}
			}
		})
	}),
})

// laterClaims returns the filter that writes a header for a claim, if one does, and all that do run after a filter that reads the header.
func laterClaims(m managers.Manager, reader int, header string) *envoy.HTTPFilter {
	if header == "" || reader < 0 {
		return nil
	}
	writer := slices.IndexFunc(m.Filters, func(f envoy.HTTPFilter) bool { return slices.Contains(f.ClaimHeaders(), strings.ToLower(header)) })
	if writer < reader {
		return nil
	}
	return &m.Filters[writer]
}

func reportClaim(p *lint.Pass, at lint.At, header string, writer envoy.HTTPFilter) {
	p.Report(at, lint.Diagnostic{
		Message: fmt.Sprintf("this reads %s as the client sent it, not the claim of its token", header),
		Notes:   []string{fmt.Sprintf("%q writes the header, and runs later", writer.Message.GetName())},
		Help:    "put jwt_authn before the filter that reads the header",
		Related: []lint.Related{lint.RelatedTo(writer.At, "this filter runs later")},
	})
}
