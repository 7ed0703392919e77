package syntax

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/source"
)

// TestUnindented: a value in the column of its key is found where it is, and the text around it is what it was.
func TestUnindented(t *testing.T) {
	testPositions(t, ParseYAML, "a: |\n  é:\n  # c\nb: # é\n# é: \n\n[x, {y: z}]\nc:\n{d: 1\n}\ne:\n- f:\n  \"g\"\n  h:\n  &a\n    i: j\nk:\n*a\nl:\n\t'm'\nn: \"o\"#p\n", []placed{
		{"a", "1:1 a", "1:4 |\n  é:\n  # c"},
		{"b[1].y", "7:6 y", "7:9 z"},
		{"c.d", "9:2 d", "9:5 1"},
		{"e[0].f", "12:3 f", "13:3 \"g\""},
		{"e[0].h.i", "16:5 i", "16:8 j"},
		{"k.i", "16:5 i", "16:8 j"},
		{"l", "19:1 l", "20:2 'm'"},
		{"n", "21:1 n", "21:4 \"o\""},
	})
}

// TestUnindentedRejected: nothing else is taken for the value of a key, and the error is where it was.
func TestUnindentedRejected(t *testing.T) {
	for text, place := range map[string]string{
		"a: |\n  b:\n  # c\n\"d\"\ne: f\n": "\"d\"",
		"a: b # c:\n\"d\"\ne: f\n":         "\"d\"",
		"a:\n[]\n[]\nb: c\n":               "[]\nb",
		"a:\nb\nc: d\n":                    "b\n",
		"a:\n&x b\nc: d\n":                 "&x b",
		"a: |\n b:\n\t\"c\"\nd: e\n":       "\t\"c\"",
		"a:\n  b:\n\t\"c\"\n":              "\t\"c\"",
		"a: b\n\t\nc: d\n":                 "\t\n",
		"a:\n  b: c\n \t# d\n  e: f\n":     "\t# d",
	} {
		docs, err := ParseYAML(&source.File{Text: []byte(text)})
		fault, ok := err.(*Error)
		if !ok {
			t.Errorf("%q: read as %v, %v", text, docs, err)
			continue
		}
		if want := strings.Index(text, place); fault.Span.Start < want {
			t.Errorf("%q: the error is at %q, want %q", text, text[fault.Span.Start:], place)
		}
	}
}

// TestManyUnindented: reading again costs no more than a bounded number of bytes, however large the text is.
func TestManyUnindented(t *testing.T) {
	const n = 100
	for padding, want := range map[int]bool{0: true, maxReread / (n - 1): false} {
		_, err := ParseYAML(&source.File{Text: []byte(strings.Repeat("a:\n[]\n", n) + strings.Repeat("#", padding))})
		if (err == nil) != want {
			t.Errorf("with %d bytes more: %v", padding, err)
		}
	}
}

// TestDirectives: a document can follow directives without a separator, unknown ones are ignored, and one in a document ends it.
func TestDirectives(t *testing.T) {
	for text, want := range map[string]int{ // documents
		"%YAML 1.2\na: b\n":                   1,
		"%YAML 1.2\n# c\n\na: b\n":            1,
		"%OTHER x\na: b\n":                    1,
		"%OTHER x\n---\na: b\n":               1,
		"a: b\n%YAML 1.2\nc: d\n":             2,
		"a:\n- b\n%OTHER x\n---\nc: d\n":      2,
		"# c\n%OTHER x\n---\na: b\n":          1,
		"%OTHER x\n%YAML 1.2\n# c\na: b\n":    1,
		"%OTHER x\n...\na: b\n":               2,
		"a:\n  b: c\n%YAML 1.2\n  d: e\n":     2,
		"a: |\n  %YAML 1.2\n%OTHER\nb: [c]\n": 2,
	} {
		docs, err := ParseYAML(&source.File{Text: []byte(text)})
		if err != nil || len(docs) != want {
			t.Errorf("%q: %d documents, %v", text, len(docs), err)
		}
	}
	for _, text := range []string{
		"%YAML 1.2\n%YAML 1.2\n---\na: b\n", "%YAML 1.2\n%YAML 1.2\na: b\n", "%TAG x\n---\na: b\n", "%TAG !e! a:\n%TAG !e! b:\na: b\n", "%YAML x\n---\na: b\n",
		"%YAML 2.0\na: b\n", "%OTHER x\n%YAML 3.0 # c\na: b\n", "a: [b,\n%YAML 1.2\nc]\n", "a: b: c\n",
	} {
		if docs, err := ParseYAML(&source.File{Text: []byte(text)}); err == nil {
			t.Errorf("%q: read as %d documents", text, len(docs))
		}
	}
}
