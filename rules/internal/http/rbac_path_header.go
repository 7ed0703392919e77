package http

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-path-header",
	Severity: lint.Warning,
	Summary:  "an RBAC policy compares the header :path, which a query changes",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/rbac/v3/rbac.proto#config-rbac-v3-permission",
		"https://github.com/envoyproxy/envoy/issues/6435",
	},
	Run: eachCondition(func(p *lint.Pass, c condition) {
		text := endOf(c.header)
		if c.header.GetName() != ":path" || text == "" || !c.escapes {
			return
		}
		p.Report(c.at, lint.Diagnostic{
			Message: fmt.Sprintf("a request for a path with a query, such as %s?a=b, escapes this condition", text),
			Notes:   []string{"the header :path contains the query; url_path does not"},
			Help:    fmt.Sprintf("compare url_path instead: url_path: {path: {prefix: %q}}", text),
		})
	}),
})

// endOf returns the text that a header has to end with, if its matcher compares the end.
func endOf(h *routev3.HeaderMatcher) string {
	for _, text := range []string{
		h.GetStringMatch().GetExact(), h.GetStringMatch().GetSuffix(), h.GetExactMatch(), h.GetSuffixMatch(), //nolint:staticcheck // deprecated, and in use
	} {
		if text != "" {
			return text
		}
	}
	return ""
}
