package http

import (
	"fmt"
	"regexp/syntax"
	"strings"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cors-origin-loose",
	Severity: lint.Warning,
	Summary:  "a CORS policy allows origins that only look like the allowed one",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/cors_filter"},
	Run: eachOrigin(func(p *lint.Pass, at lint.At, m *matcherv3.StringMatcher, policy corsPolicy) {
		field, origin, help := looseOrigin(m)
		if field == "" {
			return
		}
		note := "anyone can own that name, and its pages may then read the responses"
		if policy.GetAllowCredentials().GetValue() {
			note += " of a user who is logged in, since allow_credentials is set"
		}
		p.Report(at.Field(field), lint.Diagnostic{
			Message: fmt.Sprintf("the origin %s is allowed too", origin),
			Notes:   []string{note},
			Help:    help,
		})
	}),
})

// looseOrigin returns the field of a matcher that takes a foreign origin, with such an origin. It is empty if the matcher takes only
// names below its own, or intentionally any.
func looseOrigin(m *matcherv3.StringMatcher) (field, foreign, help string) {
	switch pattern := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Prefix:
		host := afterScheme(pattern.Prefix)
		if host == "" || strings.HasSuffix(host, ":") || !strings.Contains(pattern.Prefix, "://") {
			return "", "", ""
		}
		return "prefix", pattern.Prefix + ".evil.example", "write the whole origin as exact"
	case *matcherv3.StringMatcher_Suffix:
		if !strings.Contains(pattern.Suffix, ".") || strings.HasPrefix(pattern.Suffix, ".") || strings.Contains(pattern.Suffix, "://") {
			return "", "", ""
		}
		return "suffix", "https://evil" + pattern.Suffix, fmt.Sprintf("write suffix: %q for the names below it, and the domain itself as exact", "."+pattern.Suffix)
	case *matcherv3.StringMatcher_SafeRegex:
		if foreign := dotOrigin(pattern.SafeRegex.GetRegex()); foreign != "" {
			return "safe_regex", foreign, `escape the dot: \.`
		}
	}
	return "", "", ""
}

func afterScheme(origin string) string {
	_, host, found := strings.Cut(origin, "://")
	if !found {
		return origin
	}
	return host
}

// dotOrigin returns an origin that a regular expression takes because a dot between two letters is not escaped. It is empty if all dots
// are, or if the rest of the expression is more than text and escaped dots.
func dotOrigin(expression string) string {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat {
		return ""
	}
	found := false
	var b strings.Builder
	for i, part := range parsed.Sub {
		switch part.Op {
		case syntax.OpLiteral:
			b.WriteString(string(part.Rune))
		case syntax.OpAnyCharNotNL:
			between := i > 0 && i+1 < len(parsed.Sub) && endsInLetter(parsed.Sub[i-1]) && beginsWithLetter(parsed.Sub[i+1])
			found = found || between
			b.WriteByte('x')
		case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpCharClass:
			b.WriteString("…")
		default:
			return ""
		}
	}
	if !found {
		return ""
	}
	return b.String()
}

func endsInLetter(r *syntax.Regexp) bool {
	return r.Op == syntax.OpLiteral && isLetter(r.Rune[len(r.Rune)-1])
}

func beginsWithLetter(r *syntax.Regexp) bool {
	return r.Op == syntax.OpLiteral && isLetter(r.Rune[0])
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
