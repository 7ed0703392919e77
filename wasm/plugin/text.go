package plugin

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the length of a plugin's texts in runes; what is longer is cut.
const maxText = 1_000

// maxWhy is the length of what a rule says of itself in Markdown.
const maxWhy = 20_000

// line makes one line of a plugin's text, without what a terminal could take for a command or show in another order.
func line(s string) string { return cut(strings.Join(strings.Fields(printable(s)), " "), maxText) }

// printable leaves out what cannot be printed; tabs and line breaks stay.
func printable(s string) string {
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

func cut(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s)[:runes]) + " …"
}

// quoted shows something of a plugin in a message about it.
func quoted(s string) string {
	const shown = 80 // bytes: what is quoted may be megabytes
	if len(s) > shown {
		return strconv.Quote(s[:shown]) + " …"
	}
	return strconv.Quote(s)
}

// size spells a number of bytes.
func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}
