package decode

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xdslint/xdslint/graph/source"
)

var plainTexts = []string{
	"a: 1\nb:\n  c: d # e\n  f:\n  - g\n  - h: i\n    j: k\n  - - l\n    - m\n  -\n    n: o\n  -\nq:\nr: {s: t, \"u\": [v, 'w', {}], x: \"y\\n\"}\n",
	"---\n# c\n\"k\": |\n  a\n   b\n\n  c\n\nl: |-\n  a\nm: |+\n  a\n\nn: x\n",
	"- a\n- b: c\n  d: e\n- {f: g}\n- \"h\": 'i''j'\n",
	"a:\n- b\n- c:\n  - d\n  e: f\n", "a : b", "a: b: c", "a: b\n c", "a: 'b\n c'", "a: [b,\n c]", "a: [b, c,]", "a: {b}", "a: {b: }", "a: {b:c}", "a: {\"b\":c}", "a: [b: c]",
	"a: b #c", "a: b#c", "a:b", "a: -1", "a: - b", "a: -", "a: ?b", "a: :b", "a: http://b:80/c", "a: [http://b:80/c]", "a: \"b\"c", "a: \"b\" #c", "a: \"b\"#c",
	"a: &x b", "a: *x", "a: !b c", "? a\n: b", "a: b\n---\nc: d", "a: b\n...\n", "a: |\n  b", "a: |2\n  b\n", "a: >\n  b\n", "a: |\nb: c\n", "a: | #c\n  b\n", "a: |\n\n  b\n",
	"a:\n    b: c\n  d: e\n", "a:\n  b: c\n    d: e\n", "  a: b\nc: d\n", "a: b\na: c\n", "a: ''\nb: \"\"\n", "a: \"\\x41\"", "- - - a\n    - b\n  - c\n", "-a", "- -a\n- - a\n", "a: true\nb: ~\nc: 0x1F\nd: 5000000000\n", "true: 1\n1: 2\n~: 3\n",
	"a: b\n  # c\n d: e\n", "a: {b: c} d\n", "a: %b\n", "a: @b\n", "é: ü\n", "a: [-1, - 1]", "a: {-b: c}", "a: [a?b]", "a: [\"b\": c]", "a:\n\n\n  b: c\n\n", "#\n", "", "a", "[]", "{}", "a: {b: [c, {d: e}], f: g}\n", "<<: a\n", "a: 'b' : c", "\"a\" : b", "\"a\": \"b\": c",
}

// FuzzPlainYAML: what parsePlain reads, the YAML parser reads in the same way.
func FuzzPlainYAML(f *testing.F) {
	for _, text := range plainTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := parsePlain([]byte(text))
		if plain == nil || !utf8.ValidString(text) { // ParseYAML looks at that first
			return
		}
		docs, err := parseYAML(&source.File{Text: []byte(text)})
		if err != nil || len(docs) != 1 {
			t.Fatalf("the YAML parser finds %d documents and %v in %q", len(docs), err, text)
		}
		if want, got := dump(docs[0]), dump(plain); want != got {
			t.Errorf("%q\nYAML parser: %s\nplain:       %s", text, want, got)
		}
	})
}

// dump writes a tree down. Empty values stand nowhere in it, as the two place them differently, and collections end nowhere.
func dump(n *Node) string {
	var b strings.Builder
	var write func(n *Node)
	write = func(n *Node) {
		switch n.Kind {
		case Null:
			b.WriteString("null ")
		case List, Map:
			fmt.Fprintf(&b, "%s@%d( ", n.Kind, n.start)
			for i := range n.Items {
				if n.Kind == Map {
					k := n.Keys[i]
					fmt.Fprintf(&b, "%q@%d-%d: ", k.Name, k.start, k.end)
				}
				write(&n.Items[i])
			}
			b.WriteString(") ")
		default:
			fmt.Fprintf(&b, "%s %q %t@%d-%d ", n.Kind, n.Text, n.Plain, n.start, n.end)
		}
	}
	write(n)
	return b.String()
}

func TestPlainYAMLIsUsed(t *testing.T) {
	for _, text := range plainTexts[:4] {
		if parsePlain([]byte(text)) == nil {
			t.Errorf("not read: %q", text)
		}
	}
}
