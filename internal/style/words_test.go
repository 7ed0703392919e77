package style_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// word is a row of the table in docs/style.md.
type word struct {
	name   string // its first phrase
	not    *regexp.Regexp
	use    string
	except *regexp.Regexp // nil: nothing
}

// wordsOf reads the rows whose first cell begins with code.
func wordsOf(page string) (words []word) {
	_, table, _ := strings.Cut(page, "\n## Words\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		not, except := phrasesOf(cells[1]), phrasesOf(cells[3])
		w := word{name: not[0], use: strings.TrimSpace(cells[2]), not: regexp.MustCompile(`\b(?:` + anyOf(not) + `)\b`)}
		if len(except) > 0 {
			w.except = regexp.MustCompile(anyOf(except))
		}
		words = append(words, w)
	}
	return words
}

var code = regexp.MustCompile("`[^`]*`")

func phrasesOf(cell string) (phrases []string) {
	for _, span := range code.FindAllString(cell, -1) {
		phrases = append(phrases, strings.Trim(span, "`"))
	}
	return phrases
}

// anyOf matches the phrases, across the ends of lines too.
func anyOf(phrases []string) string {
	var patterns []string
	for _, phrase := range phrases {
		pattern := strings.Join(strings.Fields(regexp.QuoteMeta(phrase)), `\s+`)
		if strings.ToLower(phrase) == phrase {
			pattern = "(?i:" + pattern + ")"
		}
		patterns = append(patterns, pattern)
	}
	return strings.Join(patterns, "|")
}

// in returns the offsets at which the word occurs outside of its exceptions.
func (w word) in(text string) (offsets []int) {
	for _, at := range w.not.FindAllStringIndex(text, -1) {
		if !inName(text, at[0], at[1]) && !w.excepted(text, at) {
			offsets = append(offsets, at[0])
		}
	}
	return offsets
}

func (w word) excepted(text string, at []int) bool {
	if w.except == nil {
		return false
	}
	return slices.ContainsFunc(w.except.FindAllStringIndex(text, -1), func(e []int) bool { return e[0] <= at[0] && at[1] <= e[1] })
}

// joins are what joins the parts of a path, an address, a target or another name.
const joins = "./:-@_"

// inName reports whether what is between two offsets is a part of a longer name.
func inName(text string, from, to int) bool {
	before := from > 0 && strings.ContainsRune(joins, rune(text[from-1]))
	after := to+1 < len(text) && strings.ContainsRune(joins, rune(text[to])) && text[to+1] > ' '
	return before || after
}

func TestWords(t *testing.T) {
	words := wordsOf("# A page\n\n## Words\n\n| not | but | except |\n|---|---|---|\n" +
		"| `is no`, `are no` | is not a | `there is no`, `is no longer`, `Is no` |\n")
	if len(words) != 1 || words[0].use != "is not a" {
		t.Fatalf("%+v", words)
	}
	for text, want := range map[string][]int{
		"this is no name": {5},
		"this is\n  no name, and these Are no names": {5, 29},
		"there is no name, and it is no longer one":  nil,
		"this is nowhere":                       nil,
		"a/is no, and is no.name":               nil,
		"It is no.":                             {3},
		"Is no name":                            nil,
		prose("this `is no` name"):              nil,
		prose("```text\nit is no name\n```\n"):  nil,
		prose("```go\n// it is no name\n```\n"): {9},
	} {
		if got := words[0].in(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", text, got, want)
		}
	}
}
