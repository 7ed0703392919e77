// Package style holds all texts that a person reads to docs/style.md.
package style_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

type finding struct {
	line int
	text string
}

// TestStyle checks the words and the width of all texts.
func TestStyle(t *testing.T) {
	words := tableOf(t)
	for _, path := range files(t) {
		for _, f := range check(t, path, words) {
			t.Errorf("%s:%d: %s", path, f.line, f.text)
		}
	}
}

func tableOf(t *testing.T) []word {
	t.Helper()
	words := wordsOf(read(t, "docs/style.md"))
	if len(words) < 10 {
		t.Fatalf("docs/style.md has a table of %d words", len(words))
	}
	return words
}

func check(t *testing.T, path string, words []word) (found []finding) {
	content := read(t, path)
	for _, text := range readers[filepath.Ext(path)](t, path, content) {
		for _, w := range words {
			for _, offset := range w.in(text.text) {
				at := text.line + strings.Count(text.text[:offset], "\n")
				found = append(found, finding{at, fmt.Sprintf("not %q, but: %s: %s", w.name, w.use, around(text.text, offset))})
			}
		}
	}
	if filepath.Ext(path) == ".md" {
		found = append(found, tooWide(content)...)
	}
	return found
}

// around returns the line at an offset.
func around(text string, offset int) string {
	before := text[strings.LastIndexByte(text[:offset], '\n')+1 : offset]
	after, _, _ := strings.Cut(text[offset:], "\n")
	return strings.TrimSpace(before + after)
}

const width = 120

var address = regexp.MustCompile(`https?://\S+`)

// tooWide finds the lines that are wider than a page. Tables, code and addresses cannot be wrapped.
func tooWide(markdown string) (found []finding) {
	for i, line := range strings.Split(fence.ReplaceAllStringFunc(markdown, blank), "\n") {
		if n := utf8.RuneCountInString(address.ReplaceAllString(line, "")); n > width && !strings.HasPrefix(line, "|") {
			found = append(found, finding{i + 1, fmt.Sprintf("%d columns: wrap at %d", n, width)})
		}
	}
	return found
}

func TestTooWide(t *testing.T) {
	long := strings.Repeat("word ", 25)
	found := tooWide("short\n" + long + "\n| " + long + "|\n```\n" + long + "\n```\nhttps://" + strings.Repeat("x", 130) + "\n")
	if len(found) != 1 || found[0].line != 2 {
		t.Errorf("%+v", found)
	}
}
