// Package style holds all texts that a person reads to docs/style.md.
package style_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// notYet is still to be rewritten: files, folders and extensions. Entries that have become clean must go.
var notYet = []string{"docs/rules/", ".go", ".txtar", ".rs", "web/"}

func waiting(path string) int {
	return slices.IndexFunc(notYet, func(entry string) bool {
		return entry == path || entry == filepath.Ext(path) || strings.HasSuffix(entry, "/") && strings.HasPrefix(path, entry)
	})
}

type finding struct {
	line int
	name string // a word of the table, or "width"
	text string
}

func TestStyle(t *testing.T) {
	words := tableOf(t)
	for _, path := range files(t) {
		if waiting(path) >= 0 {
			continue
		}
		for _, f := range check(t, path, words) {
			t.Errorf("%s:%d: %s", path, f.line, f.text)
		}
	}
}

// TestNotYet keeps the list from growing old. -v shows all that is left.
func TestNotYet(t *testing.T) {
	words := tableOf(t)
	left := map[int]bool{}
	for folder, paths := range folders(t) {
		counts := map[string]int{}
		for _, path := range paths {
			i := waiting(path)
			if i < 0 {
				continue
			}
			for _, f := range check(t, path, words) {
				left[i] = true
				counts[f.name]++
				t.Logf("%s:%d: %s", path, f.line, f.text)
			}
		}
		t.Logf("%s: %v", folder, counts)
	}
	for i, entry := range notYet {
		if !left[i] {
			t.Errorf("%s is rewritten: remove it from notYet", entry)
		}
	}
}

func tableOf(t *testing.T) []word {
	words := wordsOf(read(t, "docs/style.md"))
	if len(words) < 10 {
		t.Fatalf("docs/style.md has a table of %d words", len(words))
	}
	return words
}

// folders are the files by their first folder, or by "top".
func folders(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, path := range files(t) {
		folder, _, nested := strings.Cut(path, "/")
		if !nested {
			folder = "top"
		}
		all[folder] = append(all[folder], path)
	}
	return all
}

func check(t *testing.T, path string, words []word) (found []finding) {
	content := read(t, path)
	for _, text := range readers[filepath.Ext(path)](t, path, content) {
		for _, w := range words {
			for _, offset := range w.in(text.text) {
				at := text.line + strings.Count(text.text[:offset], "\n")
				found = append(found, finding{at, w.name, fmt.Sprintf("not %q, but: %s: %s", w.name, w.use, around(text.text, offset))})
			}
		}
	}
	if filepath.Ext(path) == ".md" {
		found = append(found, tooWide(content)...)
	}
	return found
}

// around is the line at an offset.
func around(text string, offset int) string {
	before := text[strings.LastIndexByte(text[:offset], '\n')+1 : offset]
	after, _, _ := strings.Cut(text[offset:], "\n")
	return strings.TrimSpace(before + after)
}

const width = 120

var address = regexp.MustCompile(`https?://\S+`)

// tooWide are the lines beyond the width. Tables and code cannot be wrapped, nor can addresses.
func tooWide(markdown string) (found []finding) {
	for i, line := range strings.Split(fence.ReplaceAllStringFunc(markdown, blank), "\n") {
		if n := utf8.RuneCountInString(address.ReplaceAllString(line, "")); n > width && !strings.HasPrefix(line, "|") {
			found = append(found, finding{i + 1, "width", fmt.Sprintf("%d columns: wrap at %d", n, width)})
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
