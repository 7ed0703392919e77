package match

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// textOfRegex is what an expression matches from end to end (CompiledGoogleReMatcher::match in source/common/common/regex.h). Where that is plain text it
// says so: `/api/.*` is a prefix. Go's syntax is RE2's, so what Go cannot read is not known.
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

// fullMatch compiles the expression when it is first needed.
func fullMatch(pattern string) func(string) Overlap {
	compiled := sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(`\A(?:` + pattern + `)\z`) })
	return func(s string) Overlap {
		regex, err := compiled()
		if err != nil || !isASCII(s) { // Go and RE2 differ in bytes that are not UTF-8
			return Perhaps
		}
		return certain(regex.MatchString(s))
	}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// split takes off the literal that an expression begins with.
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

// parts are what follows each other, without groups and the anchors at both ends.
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

// isAnything is for .* and (?s:.*): no path or header has a line break.
func isAnything(r *syntax.Regexp) bool {
	return r.Op == syntax.OpStar && (r.Sub[0].Op == syntax.OpAnyCharNotNL || r.Sub[0].Op == syntax.OpAnyChar)
}
