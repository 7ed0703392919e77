package fastyaml_test

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/syntax/fastyaml"
	"github.com/xdslint/xdslint/internal/tree"
)

// FuzzOutline: an outline with its items is what Parse reads, or else what the YAML library reads: an item ends before
// the line behind it, on which Parse may give up. Where the lines of a map in brackets end an item, there is no outline.
func FuzzOutline(f *testing.F) {
	for _, text := range plainTexts {
		f.Add(text)
		f.Add("s:\n  l:\n  - " + strings.ReplaceAll(text, "\n", "\n    "))
	}
	for _, text := range []string{
		"s:\n  l:\n  - a: 1\n  # c\n\n  - b: |+\n      c\n\n\n  - - d\n    - e\n  -\n    f: g\n  -\n  l2:\n  - h\n  m: {i: j}\nt:\n- k\n",
		"s:\n  l:\n    - a: b\n    - c\nu:\n  l:\n  - d: e",
		"s:\n  l:\n  - a: \"b\n  - c\"\n", "s:\n  l:\n  - a: [b,\n  c]\n", "s:\n  l:\n  - a\n   - b\n", "s:\n  l:\n  - a\n - b\n", "s:\n  l:\n  - a: |\n     b\n   c: d\n",
		"s:\n  l: [a]\n", "s:\n- l:\n  - a\n", "s:\n  l:\n  - a: |\n      b", "s:\n  l:\n  - a: b\n---\n", "s:\n  l:\n  - &a b\n  - *a\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := fastyaml.Parse([]byte(text))
		for _, skipped := range []string{"s.l", "s.l s.l2 s.m", ""} {
			outline := fastyaml.Outline([]byte(text), func(section, list string) bool {
				return skipped == "" || strings.Contains(skipped, section+"."+list)
			})
			read := outline != nil && fill(text, outline)
			if !read && whole != nil && !strings.ContainsAny(text, "[{") {
				t.Fatalf("%q is read as a whole, but not by its outline", text)
			}
			if !read || !utf8.ValidString(text) {
				continue
			}
			want := whole
			if want == nil {
				docs, err := syntax.ParseYAML(forLibrary(text))
				if err != nil || len(docs) != 1 {
					t.Fatalf("the YAML library finds %d documents and %v in %q", len(docs), err, text)
				}
				want = docs[0]
			}
			if dump(outline) != dump(want) {
				t.Errorf("%q\nwhole:   %s\noutline: %s", text, dump(want), dump(outline))
			}
		}
	})
}

// fill reads the unread nodes of an outline, and reports whether it could.
func fill(text string, n *tree.Node) bool {
	arena := new(fastyaml.Arena)
	for i := range n.Items {
		item := &n.Items[i]
		if item.Kind == tree.Unread {
			if fastyaml.Item([]byte(text), item, arena) == nil {
				return false
			}
			arena.Reset()
			*item = *fastyaml.Item([]byte(text), item, nil)
		} else if !fill(text, item) {
			return false
		}
	}
	return true
}

// Each element with a finding is read again, by itself, and kept: a piece of 1,024 values for each would be 100 KB.
func TestItemTakesLittle(t *testing.T) {
	const text = "a:\n  b:\n  - name: c\n    d: [e, f]\n"
	n := fastyaml.Outline([]byte(text), func(_, list string) bool { return list == "b" })
	unread := &n.Items[0].Items[0].Items[0]
	const times = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		if fastyaml.Item([]byte(text), unread, nil) == nil {
			t.Fatal("it is not plain")
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 32<<10 {
		t.Errorf("it takes %d bytes", each)
	}
}
