package http

import (
	"strings"

	oauth2v3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/oauth2/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "oauth2-pass-through",
	Severity: lint.Warning,
	Summary:  "oauth2 lets requests with a token pass unchecked, and nothing behind it checks the token",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/oauth2_filter"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *oauth2v3.OAuth2Config) {
		for i, header := range m.GetPassThroughMatcher() {
			if !strings.EqualFold(header.GetName(), "authorization") || !lastToDecide(at.Place) {
				continue
			}
			p.Report(at.Item("pass_through_matcher", i), lint.Diagnostic{
				Message: "a request with any text as its token passes without a login",
				Notes:   []string{"pass_through_matcher only compares the header, and no filter behind oauth2 checks the token"},
				Help:    "add jwt_authn behind oauth2, which verifies the token; or remove the matcher",
			})
		}
	}),
})
