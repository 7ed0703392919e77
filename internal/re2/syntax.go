package re2

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode"
)

// words maps the mistakes that both RE2 and Go's parser find to RE2's words. The two have the same syntax, except for
// the limits of nesting and size.
var words = map[syntax.ErrorCode]string{
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

// Check returns what RE2 says is wrong with an expression. It returns "" if RE2 accepts the expression, or if that is
// not certain.
func Check(expression string, charset Charset) string {
	text := charset.decode(expression)
	_, err := syntax.Parse(withoutByte(text), syntax.Perl)
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return checkTokens(text, charset)
	}
	says, ok := words[wrong.Code]
	switch {
	case !ok:
		return ""
	case wrong.Code == syntax.ErrInvalidRepeatSize && tooLong().MatchString(wrong.Expr): // a literal for RE2
		return ""
	case isKnownClass(wrong.Expr):
		return ""
	case strings.HasPrefix(wrong.Expr, "(?<="), strings.HasPrefix(wrong.Expr, "(?<!"): // a bad name for Go
		return words[syntax.ErrInvalidPerlOp] + ": " + wrong.Expr[:4]
	case wrong.Code == syntax.ErrInvalidNamedCapture && mayBeName(wrong.Expr, charset):
		return ""
	case wrong.Expr == "", wrong.Code == syntax.ErrTrailingBackslash:
		return says
	}
	return fmt.Sprintf("%s: %s", says, wrong.Expr)
}

// withoutByte replaces \C (any byte), which Go does not support.
func withoutByte(s string) string {
	if !strings.Contains(s, `\C`) {
		return s
	}
	var out strings.Builder
	tokens(s, func(token string, inClass bool) {
		if token == `\C` && !inClass {
			token = "."
		}
		out.WriteString(token)
	})
	return out.String()
}

// tooLong is a number that RE2 does not read.
var tooLong = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d{9}`) })

// checkTokens finds what Go accepts and RE2 does not: escapes for characters that the charset does not have, and newer
// names of classes.
func checkTokens(text string, charset Charset) (says string) {
	if !strings.Contains(text, `\`) {
		return ""
	}
	tokens(text, func(token string, _ bool) {
		if says != "" {
			return
		}
		if r, ok := escaped(token); ok && charset == Latin1 && r > unicode.MaxLatin1 {
			says = words[syntax.ErrInvalidEscape] + ": " + strings.TrimSuffix(token, "}")
		}
		if _, ok := className(token); ok && !isKnownClass(token) {
			says = words[syntax.ErrInvalidCharRange] + ": " + token
		}
	})
	return says
}

// className returns the name in \p{…}.
func className(token string) (name string, ok bool) {
	if !strings.HasPrefix(token, `\p`) && !strings.HasPrefix(token, `\P`) {
		return "", false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(token[2:], "{"), "}")
	return strings.TrimPrefix(name, "^"), true
}

// isKnownClass reports whether RE2 knows a \p{…}. Its version of Unicode is that of Go.
func isKnownClass(token string) bool {
	name, ok := className(token)
	switch {
	case !ok, name == "LC", name == "Cn":
		return false
	case name == "Any", unicode.Categories[name] != nil:
		return true
	}
	return unicode.Scripts[name] != nil
}

// mayBeName reports whether RE2 may accept a name of a group that Go rejects: RE2 accepts letters of other scripts.
func mayBeName(group string, charset Charset) bool {
	name := strings.Trim(strings.TrimLeft(group, "(?P"), "<>")
	for _, r := range name {
		if r <= unicode.MaxASCII || charset == UTF8 {
			continue
		}
		if !unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Nl, unicode.Pc) {
			return false
		}
	}
	return !isASCII(name)
}
