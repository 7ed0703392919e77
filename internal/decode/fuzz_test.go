package decode_test

import (
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

func FuzzYAML(f *testing.F) {
	for _, text := range yamlTexts {
		f.Add(text)
	}
	for _, text := range append(yamlStrings, yamlIntegers...) {
		f.Add("node: {id: " + text + "}\nadmin:\n  profile_path: " + text + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) { survives(t, text, decode.YAML, syntax.ParseYAML) })
}

func FuzzJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	for _, text := range jsonCluster {
		f.Add(`{"static_resources":{"clusters":[{` + text + `}]}}`)
	}
	f.Fuzz(func(t *testing.T, text string) { survives(t, text, decode.JSON, syntax.ParseJSON) })
}

func FuzzProtoText(f *testing.F) {
	for _, text := range []string{
		"admin {}, node { id: 'a' \"b\" } # c", "admin: <>; x: [1, 2.5e-3, - 5]", "clusters [{ name: \"a\" }, { name: \"\\x41\\101\\n\" }]",
		"value { [type.googleapis.com/google.protobuf.Duration] { seconds: 1 } }", "id: \"a\n\"", "id: \"\\", "[a", "a { a { a", "a: a: a", "a: 1 a: [2, 3] a: 4",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { survives(t, text, decode.YAML, syntax.ParseProtoText) })
}

// survives checks that a text is read without a panic, and that all spans are inside it.
func survives(t *testing.T, text string, format decode.Format, parse func(*source.File) ([]*tree.Node, error)) {
	hang := time.AfterFunc(20*time.Second, func() { panic("this takes too long: " + strconv.Quote(text)) })
	defer hang.Stop()
	docs, err := parse(&source.File{Text: []byte(text)})
	if err != nil && err.Error() == "" {
		t.Error("an error without a word")
	}
	if !utf8.ValidString(text) && err == nil {
		t.Error("invalid UTF-8 was taken")
	}
	for _, doc := range docs {
		inside(t, doc, source.Span{End: len(text)}, 0)
		d := decode.NewDecoder(nil)
		d.Format = format
		d.Decode(doc, &bootstrapv3.Bootstrap{})
		for _, p := range d.Problems {
			if p.Span.Start < 0 || p.Span.End < p.Span.Start || p.Span.End > len(text) || p.Message == "" {
				t.Errorf("problem %q at %v", p.Message, p.Span)
			}
			doc.Locate(p.Path)
		}
	}
}

func inside(t *testing.T, n *tree.Node, around source.Span, depth int) {
	s := n.Span()
	if s.Start < 0 || s.End < s.Start || s.End > around.End {
		t.Errorf("a value at %v, in a text of %d bytes", s, around.End)
	}
	for i := range n.Keys {
		if k := n.Keys[i].Span(); k.Start < 0 || k.End < k.Start || k.End > around.End {
			t.Errorf("a key at %v, in a text of %d bytes", k, around.End)
		}
	}
	if depth > 50 { // aliases may repeat without end
		return
	}
	for i := range n.Items {
		inside(t, &n.Items[i], around, depth+1)
	}
}
