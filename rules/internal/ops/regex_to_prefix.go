package ops

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-to-prefix",
	Severity: lint.Info,
	Summary:  "a regular expression matches what a path or a prefix matches, which costs less",
	Links: []string{
		"RegexRouteEntryImpl::matches (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routematch",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, r *routev3.Route) {
		m := r.GetMatch()
		expression := m.GetSafeRegex()
		field, value, ok := plainer(expression.GetRegex())
		if !ok || envoy.OtherRegexEngine(p.Snapshot, expression) || ignoresCase(m) || rewritesMatch(r) {
			return
		}
		edits := lint.Exchange(at.Field("match", "safe_regex"), field, value)
		fixes := edits.Likely("compare a text")
		if field == "path" || envoy.DotMatchesAnyByte(p.Target, p.Snapshot) {
			fixes = edits.Safe("compare a text")
		}
		p.Report(at.Field("match", "safe_regex", "regex"), lint.Diagnostic{
			Message: fmt.Sprintf("%s: %s matches the same requests", field, value),
			Notes:   []string{"Envoy runs a regular expression over the path of each request, and rejects large ones; to compare a text costs next to nothing"},
			Help:    fmt.Sprintf("write %s: %s", field, value),
			Fixes:   fixes,
		})
	}),
})

// ignoresCase reports whether a path or a prefix would be compared without its case. Envoy compares a regular expression with it.
func ignoresCase(m *routev3.RouteMatch) bool {
	return m.GetCaseSensitive() != nil && !m.GetCaseSensitive().GetValue()
}

// rewritesMatch reports whether a route replaces the part of the path that matched, which for a regular expression is the whole path.
func rewritesMatch(r *routev3.Route) bool {
	return r.GetRoute().GetPrefixRewrite() != "" || r.GetRedirect().GetPrefixRewrite() != ""
}

// plainer returns the field of a RouteMatch that matches the same paths as a regular expression, and its value.
func plainer(regex string) (field, value string, ok bool) {
	tree, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return "", "", false
	}
	parts := unanchored(tree)
	if len(parts) == 0 || parts[0].Op != syntax.OpLiteral || parts[0].Flags&syntax.FoldCase != 0 {
		return "", "", false
	}
	value = string(parts[0].Rune)
	switch rest := parts[1:]; {
	case !strings.HasPrefix(value, "/") || strings.ContainsAny(value, "?#") || strings.ContainsFunc(value, func(c rune) bool { return c > unicode.MaxASCII }):
		return "", "", false
	case len(rest) == 0:
		return "path", value, strings.HasPrefix(regex, "^") == strings.HasSuffix(regex, "$")
	case len(rest) > 1:
		return "", "", false
	case isAny(rest[0]):
		return "prefix", value, true
	}
	return "path_separated_prefix", value, isSubpath(parts[1]) && !strings.HasSuffix(value, "/")
}

// unanchored returns the parts of an expression without ^ and $, which change nothing where the whole path is compared.
func unanchored(tree *syntax.Regexp) []*syntax.Regexp {
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	if parts[0].Op == syntax.OpBeginText {
		parts = parts[1:]
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		parts = parts[:n-1]
	}
	return parts
}

// isAny reports whether an expression is .*. No path has a line break.
func isAny(e *syntax.Regexp) bool {
	return e.Op == syntax.OpStar && (e.Sub[0].Op == syntax.OpAnyCharNotNL || e.Sub[0].Op == syntax.OpAnyChar)
}

// isSubpath reports whether an expression is (/.*)?.
func isSubpath(e *syntax.Regexp) bool {
	if e.Op != syntax.OpQuest {
		return false
	}
	inner := e.Sub[0]
	if inner.Op == syntax.OpCapture {
		inner = inner.Sub[0]
	}
	return inner.Op == syntax.OpConcat && len(inner.Sub) == 2 && inner.Sub[0].String() == "/" && isAny(inner.Sub[1])
}
