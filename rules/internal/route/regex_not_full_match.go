package route

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-not-full-match",
	Severity: lint.Info,
	Summary:  "a regular expression looks like one for a part of the value, and Envoy compares the whole value",
	Links: []string{
		"CompiledGoogleReMatcher::match (source/common/common/regex.h)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routematch",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteMatch) {
		if m.GetSafeRegex() == nil && len(m.GetHeaders()) == 0 {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if regex := m.GetSafeRegex().GetRegex(); openAtEnd(regex) {
			reportPartial(p, at.Field("safe_regex", "regex"), "path", regex, regex+".*")
		}
		for i, h := range m.GetHeaders() {
			own, regex := at.Item("headers", i).Field("string_match", "safe_regex", "regex"), h.GetStringMatch().GetSafeRegex().GetRegex()
			switch {
			case openAtEnd(regex):
				reportPartial(p, own, "value", regex, regex+".*")
			case slices.Contains(longHeaders, ascii.Lower(h.GetName())) && isWord(regex):
				reportPartial(p, own, "value", regex, ".*"+regex+".*")
			}
		}
	}),
})

func reportPartial(p *lint.Pass, at lint.At, value, regex, whole string) {
	p.Report(at, lint.Diagnostic{
		Message: fmt.Sprintf("the whole %s has to match %s, not a part of it", value, regex),
		Notes:   []string{"Envoy compares the whole value with a regular expression, as if it began with ^ and ended with $"},
		Help:    fmt.Sprintf("write %s to match what contains it, or end it with $ if the whole %s is meant", whole, value),
		Fixes:   lint.Replace(at, whole).Likely("match what contains it"),
	})
}

// openAtEnd reports whether an expression is anchored at the beginning, but not at the end: as it is written to search.
func openAtEnd(regex string) bool {
	rest, ok := strings.CutPrefix(regex, "^")
	return ok && rest != "" && !strings.HasSuffix(rest, "$") && !strings.ContainsAny(rest, "|") && !endsWithRepetition(rest)
}

// endsWithRepetition reports whether the last part of an expression can match a text of any length, or it is not known.
func endsWithRepetition(regex string) bool {
	tree, err := syntax.Parse(regex, syntax.Perl)
	for err == nil {
		switch tree.Op {
		case syntax.OpConcat, syntax.OpCapture:
			tree = tree.Sub[len(tree.Sub)-1]
		case syntax.OpLiteral, syntax.OpCharClass:
			return false
		default:
			return true
		}
	}
	return true
}

// longHeaders are those whose values consist of several parts.
var longHeaders = []string{"accept", "cookie", "user-agent"}

// isWord reports whether an expression is a plain text.
func isWord(regex string) bool {
	tree, err := syntax.Parse(regex, syntax.Perl)
	return err == nil && tree.Op == syntax.OpLiteral
}
