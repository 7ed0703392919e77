package route

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "regex-invalid",
	Severity: lint.Error,
	Summary:  "a regular expression of a route table is not one that RE2 knows",
	Why: `Envoy compiles every regular expression of a route table when it loads it, with RE2 (` + "`CompiledGoogleReMatcher`" + `): those that match paths, headers,
query parameters and origins, and those that rewrite. One that RE2 does not understand refuses the whole table.

RE2 has no backreferences (` + "`\\1`" + `) and no look-around (` + "`(?=…)`, `(?!…)`" + `), which other engines have; nor does it take globs: ` + "`*.html` is `.*\\.html`" + `.

The syntax alone is judged here, not how large the compiled expression is.`,
	Links: []string{"CompiledGoogleReMatcher (source/common/common/regex.cc)", "https://github.com/google/re2/wiki/Syntax"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *matcherv3.RegexMatcher) {
		if m.GetRegex() == "" {
			return // breaks a constraint
		}
		upstream := re2Error(m.GetRegex())
		if upstream == "" || otherEngine(p, m) {
			return
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		help := "see https://github.com/google/re2/wiki/Syntax"
		if strings.Contains(upstream, "(?=") || strings.Contains(upstream, "(?!") || strings.Contains(upstream, "(?<") {
			help = "RE2 has no look-around: match what is wanted, or put a route before this one that takes what is not"
		}
		p.Refuse(at.Field("regex"), "RE2 does not know this regular expression: "+upstream, help, upstream)
	}),
})

// otherEngine tells whether an engine that the bootstrap names compiles the expression.
func otherEngine(p *lint.Pass, m *matcherv3.RegexMatcher) bool {
	if m.GetEngineType() != nil {
		return false
	}
	for _, r := range p.Snapshot.Resources {
		if b, ok := r.Message.(*bootstrapv3.Bootstrap); ok && b.GetDefaultRegexEngine() != nil {
			return true
		}
	}
	return false
}

// re2Errors are RE2's words for the mistakes that it finds wherever Go's parser finds them. The two share their syntax but
// for the limits (nesting, size), which are not Envoy's.
var re2Errors = map[syntax.ErrorCode]string{
	syntax.ErrInvalidEscape:         "invalid escape sequence",
	syntax.ErrInvalidNamedCapture:   "invalid named capture group",
	syntax.ErrInvalidPerlOp:         "invalid perl operator",
	syntax.ErrInvalidRepeatSize:     "invalid repetition size",
	syntax.ErrInvalidRepeatOp:       "bad repetition operator",
	syntax.ErrMissingBracket:        "missing ]",
	syntax.ErrMissingParen:          "missing )",
	syntax.ErrMissingRepeatArgument: "no argument for repetition operator",
	syntax.ErrTrailingBackslash:     "trailing \\",
	syntax.ErrUnexpectedParen:       "unexpected )",
	syntax.ErrInvalidCharRange:      "invalid character class range",
}

// re2Error is what RE2 says of an expression that it does not take, "" where that is not certain.
func re2Error(expression string) string {
	_, err := syntax.Parse(expression, syntax.Perl)
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return ""
	}
	words, ok := re2Errors[wrong.Code]
	switch {
	case !ok, strings.Contains(expression, `\C`): // any byte: RE2 has it, Go does not
		return ""
	case strings.Contains(wrong.Expr, `\p`), strings.Contains(wrong.Expr, `\P`): // each has its own edition of Unicode
		return ""
	case strings.HasPrefix(wrong.Expr, "(?<="), strings.HasPrefix(wrong.Expr, "(?<!"): // a bad name for Go
		return re2Errors[syntax.ErrInvalidPerlOp] + ": " + wrong.Expr[:4]
	case wrong.Code == syntax.ErrInvalidNamedCapture && !isASCII(wrong.Expr): // RE2 takes names in other scripts
		return ""
	case wrong.Expr == "", wrong.Code == syntax.ErrTrailingBackslash:
		return words
	}
	return fmt.Sprintf("%s: %s", words, wrong.Expr)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
