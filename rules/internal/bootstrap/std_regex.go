package bootstrap

import (
	"regexp"
	"sync"
)

// stdRegexFault returns the reason why every std::regex rejects an expression, or "" if that is not certain. It does not find faults that
// only libc++, or only some versions of it, report.
func stdRegexFault(expression string) string {
	known := stdRegex()
	if known.collating.MatchString(expression) {
		return ""
	}
	outline := expression
	for _, part := range known.parts {
		outline = part.pattern.ReplaceAllLiteralString(outline, part.text)
	}
	for _, fault := range known.faults {
		if fault.pattern.MatchString(outline) {
			return fault.text
		}
	}
	if !balanced(outline) {
		return "its parentheses do not match"
	}
	return ""
}

// stdRegexSyntax is the known part of the syntax: the parts of an expression that can be replaced by shorter ones to get its outline, and the
// faults that the outline can have.
type stdRegexSyntax struct {
	collating     *regexp.Regexp // [[.x.]] and [[=x=]] are hardly used, and hide the end of brackets
	parts, faults []stdRegexPattern
}

type stdRegexPattern struct {
	pattern *regexp.Regexp
	text    string
}

var stdRegex = sync.OnceValue(func() stdRegexSyntax {
	p := func(pattern, text string) stdRegexPattern { return stdRegexPattern{regexp.MustCompile(pattern), text} }
	return stdRegexSyntax{
		collating: regexp.MustCompile(`\[[^\]]*\[[.=]`),
		parts: []stdRegexPattern{
			p(`\\(?:[bBdDfnrsStvwW]|c[a-zA-Z]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^a-zA-Z])`, "a"),
			p(`\[(?:\[:[a-zA-Z]+:\]|[^\]])*\]`, "a"),
			p(`\{[0-9]+(?:,[0-9]*)?\}`, "*"),
			p(`\(\?[:=!]`, "("),
		},
		faults: []stdRegexPattern{
			p(`\(\?`, `only ":", "=" or "!" can follow "(?", so there are no look-behinds, named groups or flags`),
			p(`\\`, `it has an escape that ECMAScript does not have, or ends with a backslash`),
			p(`[\[\]]`, `a "[" or "]" that does not belong to a pair must be escaped`),
			p(`[{}]`, `a "{" or "}" that does not belong to a count such as {2,3} must be escaped`),
			p(`(?:^|[(|^$])[*+?]`, `there is nothing to repeat before a "*", a "+", a "?" or a count`),
			p(`[*+?](?:[*+]|\?[*+?])`, `a repetition cannot be repeated or possessive`),
		},
	}
})

// balanced reports whether all parentheses of an outline belong to pairs.
func balanced(outline string) bool {
	open := 0
	for _, c := range outline {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
		if open < 0 {
			return false
		}
	}
	return open == 0
}
