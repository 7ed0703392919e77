package words

import (
	"strings"
	"unicode"
)

// maxLine is the length at which Line cuts a line, in characters.
const maxLine = 1_000

// Line returns the text of a custom rule as one printable line. The linted files and the rule may come from strangers.
func Line(s string) string {
	line := []rune(strings.Join(strings.Fields(Printable(s)), " "))
	if len(line) > maxLine {
		return string(line[:maxLine]) + " …"
	}
	return string(line)
}

// Printable removes characters that a terminal could read as a command or show in another order. It keeps tabs and line breaks.
func Printable(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case c == '\u2028' || c == '\u2029':
			return '\n'
		case unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c):
			return -1
		}
		return c
	}, s)
}

// WithoutNumbers removes the numbers that can be positions from a message or a place. The result stays the same when
// something before the finding is added or removed. Names, in quotes, keep their numbers.
func WithoutNumbers(message string) string {
	if !strings.ContainsAny(message, "0123456789") {
		return message
	}
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range []byte(message) {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = quoted
		case c == '"':
			quoted = !quoted
		}
		if quoted || c < '0' || c > '9' {
			b.WriteByte(c)
		}
	}
	return b.String()
}
