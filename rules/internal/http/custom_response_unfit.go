package http

import (
	"strings"

	redirectv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/custom_response/redirect_policy/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "custom-response-unfit",
	Severity: lint.Error,
	Summary:  "a redirect policy of custom_response has an invalid URL, or a kind of redirect that it does not support",
	Links:    []string{"RedirectPolicy::RedirectPolicy (source/extensions/http/custom_response/redirect_policy/redirect_policy.cc)"},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *redirectv3.RedirectPolicy) {
		checkURL(p, at.Field("uri"), m.GetUri(), "Invalid uri specified for redirection for custom response")
		action, own := m.GetRedirectAction(), at.Field("redirect_action")
		for _, c := range []struct {
			is    bool
			field string
		}{{action.GetPrefixRewrite() != "", "prefix_rewrite"}, {action.GetRegexRewrite() != nil, "regex_rewrite"}} {
			if c.is {
				p.Reject(own.Field(c.field).Key(), lint.Rejection{
					Message:  "custom_response does not support " + c.field,
					Help:     "write path_redirect",
					Upstream: c.field + " is not supported for Custom Response",
				})
			}
		}
		if path := action.GetPathRedirect(); strings.Contains(path, "#") {
			p.Reject(own.Field("path_redirect"), lint.Rejection{
				Message:  "the path of a custom response has a fragment",
				Help:     "remove the # and what follows it",
				Upstream: "#fragment is not supported for custom response. Specified path_redirect is " + path,
			})
		}
	}),
})
