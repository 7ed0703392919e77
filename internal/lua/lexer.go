package lua

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// The kinds of tokens that are not keywords or operators, whose kind is their text.
const (
	end    = "<eof>"
	name   = "<name>"
	number = "<number>"
	text   = "<string>"
)

type token struct {
	kind, text string
	at         int // where it begins
}

// keywords are reserved: Envoy builds LuaJIT with LUAJIT_ENABLE_LUA52COMPAT.
var keywords = map[string]bool{
	"and": true, "break": true, "do": true, "else": true, "elseif": true, "end": true, "false": true, "for": true, "function": true, "goto": true,
	"if": true, "in": true, "local": true, "nil": true, "not": true, "or": true, "repeat": true, "return": true, "then": true, "true": true,
	"until": true, "while": true,
}

// operators are those of LuaJIT, and then those of other versions of Lua and other languages; longer ones first.
var (
	operators = []string{
		"...", "..", "==", "<=", ">=", "~=", "::", "+", "-", "*", "/", "%", "^", "#", "<", ">", "=", "(", ")", "{", "}", "[", "]", ";", ":", ",", ".",
	}
	foreign = []string{"//", "<<", ">>", "&&", "||", "!=", "&", "|", "~", "!", "?", "@", "$", "`", `\`}
)

var (
	// isNumber has groups for integers, which have at most 64 bits.
	isNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:` +
			`(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)i?|` +
			`(0x[0-9a-f]+|[0-9]+)(?:u?ll|llu)|(0b[01]+)(?:u?ll|llu|i)?)$`)
	})
	escape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^\\(\r\n|\n\r|[abfnrtvz\\"'\n\r]|x[0-9a-fA-F]{2}|u\{([0-9a-fA-F]+)\}|([0-9]{1,3}))`)
	})
)

// lexer splits code into tokens. After a mistake there is only the end.
type lexer struct {
	code    string
	at      int
	problem Problem
}

// fail notes the first mistake.
func (l *lexer) fail(at int, format string, args ...any) {
	if l.problem.What == "" {
		l.problem = Problem{Line: strings.Count(l.code[:at], "\n") + 1, What: fmt.Sprintf(format, args...)}
	}
	l.at = len(l.code)
}

func (l *lexer) next() token {
	l.skip()
	rest, start := l.code[l.at:], l.at
	if rest == "" {
		return token{kind: end, at: start}
	}
	var kind string
	var length int
	switch c := rest[0]; {
	case isLetter(c):
		kind, length = name, prefix(rest, func(c byte) bool { return isLetter(c) || isDigit(c) })
		if keywords[rest[:length]] {
			kind = rest[:length]
		}
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		kind, length = number, l.number(rest)
	case c == '"', c == '\'':
		kind, length = text, l.quoted(rest)
	case c == '[' && len(rest) > 1 && (rest[1] == '[' || rest[1] == '='):
		kind, length = text, l.long(rest, "text")
	default:
		kind = l.operator(rest)
		length = len(kind)
	}
	if l.problem.What != "" {
		return token{kind: end, at: start}
	}
	l.at += length
	return token{kind, rest[:length], start}
}

// skip goes over space and comments.
func (l *lexer) skip() {
	for {
		l.at += prefix(l.code[l.at:], func(c byte) bool { return strings.IndexByte(" \t\n\r\v\f", c) >= 0 })
		rest := l.code[l.at:]
		if !strings.HasPrefix(rest, "--") {
			return
		}
		if _, isLong := level(rest[2:]); isLong {
			length := l.long(rest[2:], "comment")
			if l.problem.What != "" {
				return
			}
			l.at += 2 + length
		} else {
			l.at += prefix(rest, inLine)
		}
	}
}

func (l *lexer) operator(rest string) string {
	is := func(operator string) bool { return strings.HasPrefix(rest, operator) }
	if !is("~=") {
		if i := slices.IndexFunc(foreign, is); i >= 0 {
			l.fail(l.at, "LuaJIT does not have %q", foreign[i])
			return end
		}
	}
	if i := slices.IndexFunc(operators, is); i >= 0 {
		return operators[i]
	}
	l.fail(l.at, "there is a character that does not belong into code")
	return end
}

// number returns the length of a number. LuaJIT reads on to the next character that no number has.
func (l *lexer) number(rest string) int {
	length, exponent := 0, "eE"
	if len(rest) > 1 && rest[0] == '0' && rest[1]|0x20 == 'x' {
		exponent = "pP"
	}
	for length < len(rest) {
		c := rest[length]
		sign := (c == '+' || c == '-') && length > 0 && strings.IndexByte(exponent, rest[length-1]) >= 0
		if !isLetter(c) && !isDigit(c) && c != '.' && !sign {
			break
		}
		length++
	}
	m := isNumber().FindStringSubmatch(rest[:length])
	if m == nil {
		l.fail(l.at, "%q is not a number", rest[:length])
		return 0
	}
	integer := m[1] + m[2]
	if !strings.ContainsAny(integer, "xXbB") {
		integer = strings.TrimLeft(integer, "0") // Lua has no octal numbers
	}
	if _, err := strconv.ParseUint(integer, 0, 64); errors.Is(err, strconv.ErrRange) {
		l.fail(l.at, "%q has more than 64 bits", rest[:length])
	}
	return length
}

// quoted returns the length of a text in quotes.
func (l *lexer) quoted(rest string) int {
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == rest[0]:
			return i + 1
		case c == '\n', c == '\r':
			l.fail(l.at, "a text is not closed")
			return 0
		case c == '\\':
			sequence, ok := escapeIn(rest[i:])
			if !ok && i+1 < len(rest) {
				l.fail(l.at+i, "a text has an escape sequence that Lua does not have")
				return 0
			}
			i += max(0, len(sequence)-1)
			if sequence == `\z` {
				i += prefix(rest[i+1:], func(c byte) bool { return strings.IndexByte(" \t\n\r\v\f", c) >= 0 })
			}
		}
	}
	l.fail(l.at, "a text is not closed")
	return 0
}

// escapeIn returns the escape sequence that a text begins with.
func escapeIn(rest string) (sequence string, ok bool) {
	m := escape().FindStringSubmatch(rest)
	if m == nil {
		return "", false
	}
	if decimal := m[3]; decimal != "" {
		n, _ := strconv.Atoi(decimal)
		return m[0], n <= 255
	}
	if hex := m[2]; hex != "" {
		r, err := strconv.ParseInt(hex, 16, 32)
		return m[0], err == nil && utf8.ValidRune(rune(r))
	}
	return m[0], true
}

// long returns the length of a text or comment in long brackets.
func (l *lexer) long(rest, what string) int {
	closing, ok := level(rest)
	if !ok {
		l.fail(l.at, "%q does not begin a text", rest[:2])
		return 0
	}
	i := strings.Index(rest, closing)
	if i < 0 {
		l.fail(l.at, "a %s is not closed", what)
		return 0
	}
	return i + len(closing)
}

// level returns what closes the long bracket that a text begins with.
func level(rest string) (closing string, ok bool) {
	if !strings.HasPrefix(rest, "[") {
		return "", false
	}
	equals := prefix(rest[1:], func(c byte) bool { return c == '=' })
	return "]" + strings.Repeat("=", equals) + "]", strings.HasPrefix(rest[1+equals:], "[")
}

// prefix returns how many bytes at the beginning are of a kind.
func prefix(s string, of func(byte) bool) int {
	for i := range len(s) {
		if !of(s[i]) {
			return i
		}
	}
	return len(s)
}

// isLetter reports whether a name can begin with a byte. LuaJIT takes all that is not ASCII.
func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// inLine reports whether a byte does not end a line.
func inLine(c byte) bool { return c != '\n' && c != '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
