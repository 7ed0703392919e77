package match

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// textOfRegex returns the strings that an expression matches as a whole (CompiledGoogleReMatcher::match in source/common/common/regex.h). An expression
// such as `/api/.*` becomes a prefix. Go has the syntax of RE2, so an expression that Go cannot parse is not known.
func textOfRegex(pattern string) text {
	literal, rest, ok := split(pattern)
	switch {
	case !ok:
		return text{form: other, same: "regex " + pattern}
	case len(rest) == 0:
		return newText(is, literal, false)
	case len(rest) == 1 && isAnything(rest[0]):
		return newText(begins, literal, false)
	}
	return text{form: other, literal: literal, same: "regex " + pattern, check: fullMatch(pattern)}
}

// fullMatch reports whether an expression matches a string as a whole.
func fullMatch(pattern string) func(string) Overlap {
	return check(func() (*regexp.Regexp, error) { return compileWhole(pattern) })
}

// compileWhole compiles an expression that has to match as a whole.
func compileWhole(pattern string) (*regexp.Regexp, error) {
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}

// check compiles an expression when it is first needed.
func check(compile func() (*regexp.Regexp, error)) func(string) Overlap {
	compiled := sync.OnceValues(compile)
	return func(s string) Overlap {
		regex, err := compiled()
		if err != nil || !isASCII(s) { // Go and RE2 differ in bytes that are not UTF-8
			return Perhaps
		}
		return certain(regex.MatchString(s))
	}
}

// maxMatched limits the cost of a comparison.
const maxMatched = 256

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// split returns the literal at the beginning of an expression, and the rest.
func split(pattern string) (literal string, rest []*syntax.Regexp, ok bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", nil, false
	}
	rest = parts(tree)
	for len(rest) > 0 && isLiteral(rest[0]) {
		literal += string(rest[0].Rune)
		rest = rest[1:]
	}
	return literal, rest, true
}

// parts returns the concatenated parts of an expression, without groups and without the anchors at both ends.
func parts(tree *syntax.Regexp) []*syntax.Regexp {
	var all []*syntax.Regexp
	var flatten func(*syntax.Regexp)
	flatten = func(r *syntax.Regexp) {
		switch r.Op {
		case syntax.OpConcat, syntax.OpCapture:
			for _, sub := range r.Sub {
				flatten(sub)
			}
		case syntax.OpEmptyMatch:
		default:
			all = append(all, r)
		}
	}
	flatten(tree)
	for len(all) > 0 && all[0].Op == syntax.OpBeginText {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].Op == syntax.OpEndText {
		all = all[:len(all)-1]
	}
	return all
}

func isLiteral(r *syntax.Regexp) bool {
	return r.Op == syntax.OpLiteral && r.Flags&syntax.FoldCase == 0
}

// isAnything reports whether an expression is .* or (?s:.*), which are equal here: no path or header has a line break.
func isAnything(r *syntax.Regexp) bool {
	return r.Op == syntax.OpStar && (r.Sub[0].Op == syntax.OpAnyCharNotNL || r.Sub[0].Op == syntax.OpAnyChar)
}
