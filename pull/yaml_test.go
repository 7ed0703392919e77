package pull

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Envoy's way of reading YAML and a library's read the same value from what is written, whatever it is.
func TestYAMLRoundTrip(t *testing.T) {
	words := rapid.OneOf(
		rapid.String(), rapid.StringMatching(`[a-z]{1,6}`), rapid.StringMatching(`( *[a-z:#-]{0,4}\n){1,3}[a-z]{0,2}`),
		rapid.SampledFrom([]string{
			"", "y", "No", "null", "~", "1", "0x1F", "1e3", "-", "- a", "a: b", "#x", "a #b", "'", `"`, "\\", "a\nb\n", "a\n\n b\n", "\ta\nb\n", "|", "127.0.0.1",
			"2026-11-21", "\u0085", "\u2028", "\ufeff", "😀", "a ", " a\nb\n", "=", "<<", "%REQ(x)%", "*", "!x", "&x", "[a]", "{a}", "---", "a\r\nb\n", "\x7f",
		}),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalars := []*rapid.Generator[any]{words.AsAny(), rapid.Bool().AsAny(), rapid.Int32().AsAny(), rapid.Just[any](nil)}
		if depth == 0 {
			return rapid.OneOf(scalars...)
		}
		inner := value(depth - 1)
		return rapid.OneOf(append(scalars, rapid.SliceOfN(inner, 0, 3).AsAny(), rapid.MapOfN(words, inner, 0, 3).AsAny())...)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(rapid.MapOfN(words, value(3), 1, 4).Draw(t, "value"))
		if err != nil {
			t.Skip(err)
		}
		docs, err := syntax.ParseJSON(&source.File{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		writeYAML(&out, docs[0])
		again, err := syntax.ParseYAML(&source.File{Text: out.Bytes()})
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if diff := cmp.Diff(plain(docs[0]), plain(again[0])); diff != "" {
			t.Fatalf("%s\n%s", diff, out.String())
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		back, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var read any
		if err := json.Unmarshal(back, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, read); diff != "" {
			t.Fatalf("%s\n%s", diff, out.String())
		}
	})
}

// plain is a tree without its spans.
func plain(n *tree.Node) any {
	switch n.Kind {
	case tree.Map:
		m := map[string]any{}
		for i := range n.Items {
			m[n.Keys[i].Name] = plain(&n.Items[i])
		}
		return m
	case tree.List:
		l := []any{}
		for i := range n.Items {
			l = append(l, plain(&n.Items[i]))
		}
		return l
	}
	return n.Kind.String() + " " + n.Text
}
