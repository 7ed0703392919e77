package lint

import (
	"strings"
	"unicode"
)

// maxLine is the length of a line in characters; what is longer is cut.
const maxLine = 1_000

// Line makes one printable line of a text that a custom rule made: what is linted, and what judges it, may come from strangers.
func Line(s string) string {
	line := []rune(strings.Join(strings.Fields(Printable(s)), " "))
	if len(line) > maxLine {
		return string(line[:maxLine]) + " …"
	}
	return string(line)
}

// Printable leaves out what a terminal could take for a command or show in another order; tabs and line breaks stay.
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
