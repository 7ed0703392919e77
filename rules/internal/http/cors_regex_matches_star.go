package http

import (
	"fmt"
	"regexp"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cors-regex-matches-star",
	Severity: lint.Warning,
	Summary:  `a CORS policy has a regular expression that matches "*", and allows every origin`,
	Links:    []string{"CorsFilter::isOriginAllowed (source/extensions/filters/http/cors/cors_filter.cc)"},
	Run: eachOrigin(func(p *lint.Pass, at lint.At, m *matcherv3.StringMatcher, _ corsPolicy) {
		expression := m.GetSafeRegex().GetRegex()
		own, err := regexp.Compile("^(?:" + expression + ")$")
		if err != nil || expression == "" || expression == `\*` || !own.MatchString("*") || own.MatchString("https://www.example.com") {
			return // every origin is meant
		}
		p.Report(at.Field("safe_regex", "regex"), lint.Diagnostic{
			Message: fmt.Sprintf(`%q matches "*", so every origin is allowed`, expression),
			Notes:   []string{`Envoy first asks each matcher about the text "*", which means all origins, and then about the origin`},
			Help:    `write an expression that does not match "*": https://[a-z0-9-]+\.example\.com`,
		})
	}),
})
