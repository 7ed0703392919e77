// Package words puts numbers, names and texts of strangers into sentences.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with its noun: "1 file", "2 files", "0 addresses".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Quoted returns the names in double quotes.
func Quoted(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strconv.Quote(name)
	}
	return all
}

// List joins names with commas.
func List[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

// And joins words: "a, b and c".
func And(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Few joins words with commas. Of more than most it shows one less, and how many more there are: "a, b and 7 more".
func Few(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most-1], ", "), len(words)-most+1)
}

// Name returns the name of a file for a terminal: in quotes if it has characters that a terminal could read as a command,
// show in another order or not at all.
func Name(name string) string {
	if strings.ContainsFunc(name, hidden) || !utf8.ValidString(name) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

// Cut returns the beginning of a text that is longer than a number of bytes.
func Cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// Short cuts a name that is too long to be read: a name can be as long as the input, and many texts repeat it.
func Short(name string) string { return Cut(name, 200) }

func hidden(c rune) bool { return !unicode.IsPrint(c) }
