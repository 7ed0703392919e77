package fastyaml_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/syntax/fastyaml"
	"github.com/xdslint/xdslint/internal/tree"
)

var plainTexts = []string{
	"a: 1\nb:\n  c: d # e\n  f:\n  - g\n  - h: i\n    j: k\n  - - l\n    - m\n  -\n    n: o\n  -\nq:\nr: {s: t, \"u\": [v, 'w', {}], x: \"y\\n\"}\n",
	"---\n# c\n\"k\": |\n  a\n   b\n\n  c\n\nl: |-\n  a\nm: |+\n  a\n\nn: x\n",
	"- a\n- b: c\n  d: e\n- {f: g}\n- \"h\": 'i''j'\n",
	"a:\n- b\n- c:\n  - d\n  e: f\n", "a : b", "a: b: c", "a: b\n c", "a: 'b\n c'", "a: [b,\n c]", "a:\n  b: {\n\"c\": [d # e\n  , f,\n# g\n]\n, h: i}\nj: k\n", "a: {b\n: c}", "a: {b:\n c}", "a: [b\n c]", "a: [b,\n---\n]", "a: [b,\n- c]", "a: [b, #c\n#d\n]", "a: [b,#c\n]", "a: [b, c,]", "a: {b}", "a: {b: }", "a: {b:c}", "a: {\"b\":c}", "a: [b: c]",
	"a: b #c", "a: b#c", "a:b", "a: -1", "a: - b", "a: -", "a: ?b", "a: :b", "a: http://b:80/c", "a: [http://b:80/c]", "a: \"b\"c", "a: \"b\" #c", "a: \"b\"#c",
	"a: &x b", "a: *x", "a: !b c", "? a\n: b", "a: b\n---\nc: d", "a: b\n...\n", "a: |\n  b", "a: |2\n  b\n", "a: >\n  b\n", "a: |\nb: c\n", "a: | #c\n  b\n", "a: |\n\n  b\n",
	"a:\n    b: c\n  d: e\n", "a:\n  b: c\n    d: e\n", "  a: b\nc: d\n", "a: b\na: c\n", "a: ''\nb: \"\"\n", "a: \"\\x41\"", "- - - a\n    - b\n  - c\n", "-a", "- -a\n- - a\n", "a: true\nb: ~\nc: 0x1F\nd: 5000000000\n", "true: 1\n1: 2\n~: 3\n",
	"a: b\n  # c\n d: e\n", "a: {b: c} d\n", "a: %b\n", "a: @b\n", "é: ü\n", "a: [-1, - 1]", "a: {-b: c}", "a: [a?b]", "a: [\"b\": c]", "a:\n\n\n  b: c\n\n", "#\n", "", "a", "[]", "{}", "a: {b: [c, {d: e}], f: g}\n", "<<: a\n", "a: 'b' : c", "\"a\" : b", "\"a\": \"b\": c",
}

// FuzzParse: what Parse reads, the YAML library reads in the same way.
func FuzzParse(f *testing.F) {
	for _, text := range plainTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := fastyaml.Parse([]byte(text))
		if plain == nil || !utf8.ValidString(text) { // ParseYAML looks at that first
			return
		}
		docs, err := syntax.ParseYAML(forLibrary(text))
		if err != nil && err.Error() == tooShallow {
			return
		}
		if err != nil || len(docs) != 1 {
			t.Fatalf("the YAML library finds %d documents and %v in %q", len(docs), err, text)
		}
		if want, got := dump(docs[0]), dump(plain); want != got {
			t.Errorf("%q\nYAML library: %s\nplain:        %s", text, want, got)
		}
	})
}

// tooShallow is the library's error about a map in brackets with keys to the left of the block around it. yaml-cpp does not mind.
const tooShallow = "mapping values are not allowed in this context"

// forLibrary is a text with a comment behind it that holds a tab, which Parse leaves to the library.
func forLibrary(text string) *source.File {
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	return &source.File{Text: []byte(text + "#\t")}
}

func TestLeftToLibrary(t *testing.T) {
	for _, text := range plainTexts {
		if fastyaml.Parse(forLibrary(text).Text) != nil {
			t.Errorf("not left to the library: %q", text)
		}
	}
}

// BenchmarkParse compares the two readers on a bootstrap of 70,000 lines.
func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	text.WriteString("static_resources:\n  clusters:\n")
	for i := range 7000 {
		fmt.Fprintf(&text, `  - name: cluster-%d
    connect_timeout: 0.25s
    type: STRICT_DNS # of a service
    lb_policy: LEAST_REQUEST
    load_assignment:
      cluster_name: cluster-%d
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: "backend-%d.example.com", port_value: 8080}}}
    dns_lookup_family: V4_ONLY
`, i, i, i)
	}
	run := func(name string, file *source.File) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if docs, err := syntax.ParseYAML(file); err != nil || len(docs) != 1 {
					b.Fatal(len(docs), err)
				}
			}
		})
	}
	run("fast", &source.File{Text: []byte(text.String())})
	run("library", forLibrary(text.String()))
}

// dump prints a tree. It leaves out the places of empty values, which the two parsers place differently, and the ends of collections.
func dump(n *tree.Node) string {
	var b strings.Builder
	var write func(n *tree.Node)
	write = func(n *tree.Node) {
		switch n.Kind {
		case tree.Null:
			b.WriteString("null ")
		case tree.List, tree.Map:
			fmt.Fprintf(&b, "%s@%d( ", n.Kind, n.Start)
			for i := range n.Items {
				if n.Kind == tree.Map {
					k := n.Keys[i]
					fmt.Fprintf(&b, "%q@%d-%d: ", k.Name, k.Start, k.End)
				}
				write(&n.Items[i])
			}
			b.WriteString(") ")
		default:
			fmt.Fprintf(&b, "%s %q %t@%d-%d ", n.Kind, n.Text, n.Plain, n.Start, n.End)
		}
	}
	write(n)
	return b.String()
}

func TestPlain(t *testing.T) {
	for _, text := range plainTexts[:4] {
		if fastyaml.Parse([]byte(text)) == nil {
			t.Errorf("not read: %q", text)
		}
	}
}
