package style_test

import (
	"regexp"
	"strings"
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
		not := phrasesOf(cells[1])
		words = append(words, word{name: not[0], not: anyOf(not), use: strings.TrimSpace(cells[2]), except: anyOf(phrasesOf(cells[3]))})
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

// anyOf matches the phrases as whole words, across the ends of lines too.
func anyOf(phrases []string) *regexp.Regexp {
	if len(phrases) == 0 {
		return nil
	}
	var patterns []string
	for _, phrase := range phrases {
		pattern := strings.Join(strings.Fields(regexp.QuoteMeta(phrase)), `\s+`)
		if strings.ToLower(phrase) == phrase {
			pattern = "(?i:" + pattern + ")"
		}
		patterns = append(patterns, pattern)
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(patterns, "|") + `)\b`)
}

// in returns where the word occurs outside of its exceptions, as offsets.
func (w word) in(text string) (offsets []int) {
	var excepted [][]int
	if w.except != nil {
		excepted = w.except.FindAllStringIndex(text, -1)
	}
next:
	for _, at := range w.not.FindAllStringIndex(text, -1) {
		for _, e := range excepted {
			if e[0] <= at[0] && at[1] <= e[1] {
				continue next
			}
		}
		offsets = append(offsets, at[0])
	}
	return offsets
}
