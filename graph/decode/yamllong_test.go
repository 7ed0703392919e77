package decode

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph/source"
)

// A long text read in pieces is the same tree, with the same spans, as when it is read as a whole.
func TestLongYAML(t *testing.T) {
	item := func(indent string, i int) string {
		return strings.ReplaceAll(fmt.Sprintf(`- name: "cluster-%d" # ä
  hosts:
  - {address: 10.0.0.%d}
  - address: x

# between
  note: |
    - a list
    - in a text
  text: >-
    folded
    lines
`, i, i%250), "\n", "\n"+indent)
	}
	list := func(indent string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(indent + strings.TrimRight(item(indent, i), " "))
		}
		return b.String()
	}
	many := 9000
	for name, text := range map[string]string{
		"two lists":          "---\nstatic_resources:\n  clusters:\n" + list("  ", many) + "  listeners:\n" + list("    ", many) + "admin: {}\n",
		"nested":             "listeners:\n- name: a\n  hosts:\n" + list("  ", many) + "- name: b\nlast: 1\n",
		"at the root":        list("", many),
		"no line break":      strings.TrimRight("a:\n"+list("  ", many), "\n"),
		"list in a scalar":   "text: |\n" + list("  ", many) + "b: 1\n",
		"list in quotes":     "text: \"\n" + strings.ReplaceAll(list("  ", many), `"`, `'`) + "\"\nb: 1\n",
		"anchor in one item": "a:\n- &x {b: 1}\n" + list("", many) + "- *x\n",
		"documents":          "a:\n" + list("  ", many) + "---\nb:\n" + list("  ", many),
		"windows":            strings.ReplaceAll("a:\n"+list("  ", many)+"b: c\n", "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			file := &source.File{Text: []byte(text)}
			if len(text) < longText {
				t.Fatalf("%d bytes are too short a text", len(text))
			}
			want, err := parseYAML(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseYAML(file)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(want, got) {
				t.Error("the tree read in pieces differs from the one read as a whole")
			}
		})
	}
}

func TestLongYAMLIsReadInPieces(t *testing.T) {
	text := "clusters:\n" + strings.Repeat("- name: "+strings.Repeat("x", 100)+"\n", 20000)
	if _, ok := parseLong(&source.File{Text: []byte(text)}); !ok {
		t.Error("a plain long list is not read in pieces")
	}
}

func TestLongYAMLError(t *testing.T) {
	text := []byte("clusters:\n" + strings.Repeat("- name: "+strings.Repeat("x", 100)+"\n", 20000))
	at := bytes.LastIndex(text, []byte("- name"))
	text[at+2] = '{'
	_, err := ParseYAML(&source.File{Text: text})
	if err == nil {
		t.Error("a broken item is no error")
	}
}
