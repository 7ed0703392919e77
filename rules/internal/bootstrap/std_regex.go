package bootstrap

import "strings"

// stdRegexError returns the error of libc++'s std::regex for an expression, or "" if it accepts the expression. It follows
// the parser of basic_regex for the grammar of ECMAScript (libc++'s <regex>), but builds nothing.
func stdRegexError(expression string, lib libcxx) (message string) {
	defer func() {
		if e, ok := recover().(regexError); ok {
			message = string(e)
		}
	}()
	if r := (&stdRegex{text: expression, lib: lib}); r.parse(0) != len(expression) {
		return string(errParse)
	}
	return ""
}

type regexError string

// The messages of std::regex_error::what.
const (
	errBackref   regexError = "The expression contained an invalid back reference."
	errBadBrace  regexError = "The expression contained an invalid range in a {} expression."
	errBadRepeat regexError = "One of *?+{ was not preceded by a valid regular expression."
	errBrace     regexError = "The expression contained mismatched { and }."
	errBrack     regexError = "The expression contained mismatched [ and ]."
	errCollate   regexError = "The expression contained an invalid collating element name."
	errCtype     regexError = "The expression contained an invalid character class name."
	errEscape    regexError = "The expression contained an invalid escaped character, or a trailing escape."
	errParen     regexError = "The expression contained mismatched ( and )."
	errParse     regexError = "The parser did not consume the entire regular expression."
	errRange     regexError = "The expression contained an invalid character range, such as [b-a] in most encodings."
)

// libcxx selects the version of libc++: Envoy before 1.40 was built with an older one.
type libcxx struct{ older bool }

type stdRegex struct {
	text   string
	groups int
	lib    libcxx
}

// at reports whether the text has s at i.
func (r *stdRegex) at(i int, s string) bool {
	return i <= len(r.text) && strings.HasPrefix(r.text[i:], s)
}

func (r *stdRegex) oneOf(i int, set string) bool {
	return i < len(r.text) && strings.IndexByte(set, r.text[i]) >= 0
}

// need panics with e unless ok.
func need(ok bool, e regexError) {
	if !ok {
		panic(e)
	}
}

// parse reads alternatives and returns their end.
func (r *stdRegex) parse(i int) int {
	for i = r.terms(i); r.at(i, "|"); {
		i = r.terms(i + 1)
	}
	return i
}

func (r *stdRegex) terms(i int) int {
	for {
		next := r.term(i)
		if next == i {
			return i
		}
		i = next
	}
}

func (r *stdRegex) term(i int) int {
	if next := r.assertion(i); next != i {
		return next
	}
	next := r.atom(i)
	if next == i {
		return i
	}
	return r.repeat(next)
}

func (r *stdRegex) assertion(i int) int {
	switch {
	case r.oneOf(i, "^$"):
		return i + 1
	case r.at(i, `\b`), r.at(i, `\B`):
		return i + 2
	case r.at(i, "(?="), r.at(i, "(?!"):
		inner := &stdRegex{text: r.text, lib: r.lib} // back references in it count from its own start
		end := inner.parse(i + 3)
		need(r.at(end, ")"), errParen)
		r.groups += inner.groups
		return end + 1
	}
	return i
}

func (r *stdRegex) atom(i int) int {
	switch {
	case i == len(r.text):
	case r.at(i, `\`):
		return r.escape(i + 1)
	case r.at(i, "["):
		return r.bracket(i + 1)
	case r.at(i, "("):
		need(i+1 < len(r.text), errParen)
		start := i + 1
		if r.at(i, "(?:") {
			start = i + 3
		} else {
			r.groups++
		}
		end := r.parse(start)
		need(r.at(end, ")"), errParen)
		return end + 1
	case r.oneOf(i, "*+?{"):
		panic(errBadRepeat)
	case !r.oneOf(i, ")]}|"):
		return i + 1
	}
	return i
}

// repeat reads the repetition after an atom: *, +, ?, {n}, {n,} or {n,m}, and a ? after it.
func (r *stdRegex) repeat(i int) int {
	switch {
	case r.oneOf(i, "*+?"):
		i++
	case r.at(i, "{"):
		low, next := r.count(i+1, errBadBrace)
		need(next < len(r.text), errBrace)
		switch {
		case r.at(next, ",}"):
			i = next + 2
		case r.at(next, ","):
			need(next+1 < len(r.text), errBadBrace)
			high, end := r.count(next+1, errBrace)
			need(r.at(end, "}"), errBrace)
			need(high >= low, errBadBrace)
			i = end + 1
		default:
			need(r.at(next, "}"), errBadBrace)
			i = next + 1
		}
	default:
		return i
	}
	if r.at(i, "?") {
		i++
	}
	return i
}

// count reads a number.
func (r *stdRegex) count(i int, missing regexError) (n, end int) {
	const tooMany = (1<<31 - 1) / 10
	for end = i; r.oneOf(end, "0123456789"); end++ {
		need(n < tooMany, errBadBrace)
		n = n*10 + int(r.text[end]-'0')
	}
	need(end > i, missing)
	return n, end
}

// escape reads an escape outside of brackets, after the backslash.
func (r *stdRegex) escape(i int) int {
	need(i < len(r.text), errEscape)
	if !r.oneOf(i, "123456789") {
		if r.oneOf(i, "dDsSwW") {
			return i + 1
		}
		return r.character(i)
	}
	n := 0
	for ; r.oneOf(i, "0123456789"); i++ {
		n = min(n*10+int(r.text[i]-'0'), 1<<20)
	}
	need(n <= r.groups, errBackref)
	return i
}

// character reads the escape of one character.
func (r *stdRegex) character(i int) int {
	switch c := r.text[i]; {
	case strings.IndexByte("fnrtv", c) >= 0:
	case c == 'c':
		need(i+1 < len(r.text) && isLetter(r.text[i+1]), errEscape)
		return i + 2
	case c == 'u':
		return r.hex(i+1, 4)
	case c == 'x':
		return r.hex(i+1, 2)
	default:
		need(!isLetter(c) && (c != '_' || !r.lib.older), errEscape)
	}
	return i + 1
}

func (r *stdRegex) hex(i, digits int) int {
	for range digits {
		need(r.oneOf(i, "0123456789abcdefABCDEF"), errEscape)
		i++
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
