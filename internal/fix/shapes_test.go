package fix_test

import (
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// place is a place in a text, whatever its fields mean.
type place struct{ r *graph.Resource }

func (p place) at(path *tree.Path) lint.At {
	return lint.AtProblem(p.r, decode.Problem{Path: path})
}

func read(t interface{ Fatalf(string, ...any) }, format, text string) place {
	file := &source.File{Name: "x." + format, Text: []byte(text)}
	parse := map[string]func(*source.File) ([]*tree.Node, error){"yaml": syntax.ParseYAML, "json": syntax.ParseJSON, "txtpb": syntax.ParseProtoText}[format]
	docs, err := parse(file)
	if err != nil || len(docs) == 0 {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return place{&graph.Resource{Kind: graph.File, File: file, Text: tree.TextOf(docs[0])}}
}

func apply(text string, edits lint.Edits) string {
	fixed, _ := fix.Apply([]byte(text), []lint.Diagnostic{{Fixes: edits.Likely("test")}}, true)
	return string(fixed)
}

var root *tree.Path

func into(names ...string) (all lint.Fields) {
	for _, name := range names {
		all = append(all, lint.Entry{Name: name})
	}
	return all
}

func TestShapes(t *testing.T) {
	a, b, list := root.Field("a"), root.Field("b"), root.Field("list")
	item := func(i int) *tree.Path { return root.Item("list", i) }
	type edit = func(place) lint.Edits
	replace := func(at *tree.Path, v any) edit {
		return func(p place) lint.Edits { return lint.Replace(p.at(at), v) }
	}
	rename := func(at *tree.Path, name string) edit {
		return func(p place) lint.Edits { return lint.Rename(p.at(at), name) }
	}
	remove := func(at *tree.Path) edit {
		return func(p place) lint.Edits { return lint.Remove(p.at(at)) }
	}
	insert := func(at *tree.Path, v any) edit {
		return func(p place) lint.Edits { return lint.Insert(p.at(at), "new", v) }
	}
	wrap := func(at *tree.Path, inner ...string) edit {
		return func(p place) lint.Edits { return lint.Wrap(p.at(at), "new_one", into(inner...)) }
	}
	wrapWith := func(at *tree.Path) edit {
		frame := lint.Fields{{Name: "p.q"}, {Name: "@type", Value: "x"}, {Name: "r"}}
		return func(p place) lint.Edits { return lint.Wrap(p.at(at), "new_one", frame) }
	}
	exchange := func(at *tree.Path, v any) edit {
		return func(p place) lint.Edits { return lint.Exchange(p.at(at), "new_one", v) }
	}
	swap := func(i, j int) edit {
		return func(p place) lint.Edits { return lint.Swap(p.at(item(i)), p.at(item(j))) }
	}
	join := func(i int) edit { return func(p place) lint.Edits { return lint.Join(p.at(item(i))) } }
	toEnd := func(i int) edit { return func(p place) lint.Edits { return lint.MoveToEnd(p.at(item(i))) } }
	fields := lint.Fields{{Name: "@type", Value: "type.googleapis.com/x"}, {Name: "n", Value: 1}}

	for _, c := range []struct {
		name, format, text string
		edit               edit
		want               string // empty: no edit
	}{
		{"plain word", "yaml", "a: V2 # why\n", replace(a, "V3"), "a: V3 # why\n"},
		{"a word that YAML takes for a boolean", "yaml", "a: V2\n", replace(a, "off"), "a: \"off\"\n"},
		{"single quotes stay", "yaml", "a: 'x'\n", replace(a, "y"), "a: 'y'\n"},
		{"single quotes that would need another", "yaml", "a: 'x'\n", replace(a, "it's"), "a: \"it's\"\n"},
		{"a number", "yaml", "a: {n: 1}\n", replace(a.Field("n"), 2), "a: {n: 2}\n"},
		{"JSON number to string", "json", `{"a": 1}`, replace(a, "x y"), `{"a": "x y"}`},
		{"block scalar", "yaml", "a: |\n  x\n", replace(a, "y"), ""},
		{"plain over two lines", "yaml", "a: x\n  y\nb: 1\n", replace(a, "y"), ""},
		{"anchor", "yaml", "a: &x V2\nb: *x\n", replace(a, "V3"), ""},
		{"alias", "yaml", "a: &x V2\nb: *x\n", replace(b, "V3"), ""},
		{"below an anchor", "yaml", "a: &x {n: 1}\nb: *x\n", replace(b.Field("n"), 2), ""},
		{"merge key", "yaml", "x: &x {n: 1}\na:\n  <<: *x\n  m: 2\n", replace(a.Field("m"), 3), "x: &x {n: 1}\na:\n  <<: *x\n  m: 3\n"},
		{"tag", "yaml", "a: !!str V2\n", replace(a, "V3"), ""},
		{"template", "json", `{"a": "{{ .X }}"}`, replace(a, "y"), ""},
		{"proto text", "txtpb", `a: "x"`, replace(a, "y"), ""},

		{"rename", "yaml", "a:\n  x: 1\nb: 2\n", rename(a, "new_one"), "new_one:\n  x: 1\nb: 2\n"},
		{"rename quoted", "json", `{"a": {"x": 1}}`, rename(a, "new_one"), `{"new_one": {"x": 1}}`},
		{"rename to what is there", "yaml", "a: 1\nb: 2\n", rename(a, "b"), ""},
		{"rename a duplicate", "yaml", "a: 1\na: 2\n", rename(a, "b"), ""},
		{"rename keeps lowerCamelCase", "json", `{"aB": 1}`, rename(root.Field("aB"), "new_one"), `{"newOne": 1}`},
		{"rename a map's key", "yaml", "a:\n  envoy.x: 1\n", rename(root.Entry("a", "envoy.x"), "Envoy.y"), "a:\n  Envoy.y: 1\n"},

		{"remove a line", "yaml", "# head\na: 1 # gone\n# stays\nb: 2\n", remove(a), "# head\n# stays\nb: 2\n"},
		{"remove lines", "yaml", "a:\n  x:\n  - 1\nb: 2\n", remove(a), "b: 2\n"},
		{"remove the last line", "yaml", "a: 1\nb: 2", remove(b), "a: 1\n"},
		{"remove beside the dash", "yaml", "list:\n- a: 1 # gone\n  b: 2\n", remove(item(0).Field("a")), "list:\n- b: 2\n"},
		{"remove beside the dash, with a comment below", "yaml", "list:\n- a: 1 # gone\n  # stays\n  b: 2\n", remove(item(0).Field("a")), "list:\n-\n  # stays\n  b: 2\n"},
		{"remove the only field", "yaml", "a:\n  x: 1 # gone\nb: 2\n", remove(a.Field("x")), "a: {}\nb: 2\n"},
		{"remove the only field below a comment", "yaml", "a: # stays\n  x: 1\nb: 2\n", remove(a.Field("x")), "a: # stays\n  {}\nb: 2\n"},
		{"remove the only field in an element", "yaml", "list:\n- a: 1\n- a: 2\n", remove(item(0).Field("a")), "list:\n- {}\n- a: 2\n"},
		{"remove the only element", "yaml", "list:\n- x\nb: 2\n", remove(item(0)), "list: []\nb: 2\n"},
		{"remove the only element below a comment", "yaml", "list:\n# stays\n- x\nb: 2\n", remove(item(0)), "list:\n# stays\n []\nb: 2\n"},
		{"remove an element", "yaml", "list:\n- a: 1\n  b: 2\n- c\n", remove(item(0)), "list:\n- c\n"},
		{"remove in CRLF", "yaml", "a: 1\r\nlist:\r\n- x\r\n- y\r\n", remove(item(1)), "a: 1\r\nlist:\r\n- x\r\n"},
		{"remove a block scalar", "yaml", "a: |\n  x\n\n  y\nb: 2\n", remove(a), "b: 2\n"},
		{"remove below |+", "yaml", "x: |+\n  y\na: 1\n\nb: 2\n", remove(a), ""},
		{"remove null", "yaml", "a:\nb: 2\n", remove(a), "b: 2\n"},
		{"remove what holds an anchor", "yaml", "a: {n: &x 1}\nb: *x\n", remove(a), ""},
		{"flow: remove the first", "yaml", "list: [x, y, z]\n", remove(item(0)), "list: [y, z]\n"},
		{"flow: remove one between", "yaml", "list: [x, y, z]\n", remove(item(1)), "list: [x, z]\n"},
		{"flow: remove the last", "yaml", "list: [x, y, z]\n", remove(item(2)), "list: [x, y]\n"},
		{"flow: remove before a trailing comma", "yaml", "list: [x, y,]\n", remove(item(1)), "list: [x,]\n"},
		{"flow: remove the only", "yaml", "a: { x: 1 }\n", remove(a.Field("x")), "a: {}\n"},
		{"flow over lines", "yaml", "a: {\n  x: 1, # gone\n  # stays\n  y: 2, # stays too\n}\n", remove(a.Field("x")), "a: {\n  # stays\n  y: 2, # stays too\n}\n"},
		{"JSON over lines: first", "json", "{\n\t\"a\": 1,\n\t\"b\": 2\n}", remove(a), "{\n\t\"b\": 2\n}"},
		{"JSON over lines: last", "json", "{\n\t\"a\": 1,\n\t\"b\": 2\n}", remove(b), "{\n\t\"a\": 1\n}"},
		{"JSON: the only", "json", "{\"a\": {\n  \"x\": [1]\n}}", remove(a.Field("x")), `{"a": {}}`},

		{"insert", "yaml", "a:\n  x: 1 # c\nb: 2\n", insert(a, "v"), "a:\n  x: 1 # c\n  new: v\nb: 2\n"},
		{"insert a message", "yaml", "list:\n- name: x\n- y: 2", insert(item(1), fields), "list:\n- name: x\n- y: 2\n  new:\n    \"@type\": type.googleapis.com/x\n    n: 1"},
		{"insert in CRLF", "yaml", "a: 1\r\n", insert(root, true), "a: 1\r\nnew: true\r\n"},
		{"insert into flow", "yaml", "a: {x: y}\n", insert(a, fields), "a: {x: y, new: {\"@type\": type.googleapis.com/x, n: 1}}\n"},
		{"insert into {}", "yaml", "a: {}\n", insert(a, "v"), "a: {\"new\": \"v\"}\n"},
		{"insert into JSON", "json", "{\n  \"a\": 1\n}\n", insert(root, fields), "{\n  \"a\": 1,\n  \"new\": {\"@type\": \"type.googleapis.com/x\", \"n\": 1}\n}\n"},
		{"insert what is there", "yaml", "new: 1\n", insert(root, 2), ""},
		{"insert below an anchor", "yaml", "a: &x {y: 1}\nb: *x\n", insert(a, 2), ""},

		{"wrap", "yaml", "a: x y # c\n", wrap(a, "p", "q"), "new_one: {p: {q: x y}} # c\n"},
		{"wrap in JSON", "json", `{"a":"x"}`, wrap(a, "p"), `{"new_one":{"p": "x"}}`},
		{"wrap lines", "yaml", "list:\n- a: |\n    x\n\n    y\n  b: 2\n", wrap(item(0).Field("a"), "p", "q"), "list:\n- new_one:\n    p:\n      q: |\n        x\n\n        y\n  b: 2\n"},
		{"wrap what does not fit into brackets", "yaml", "a: x, y\n", wrap(a, "p"), "new_one:\n  p: x, y\n"},
		{"wrap a list that is no deeper", "yaml", "list:\n- x\n- y\nb: 2\n", wrap(list, "p"), "new_one:\n  p:\n  - x\n  - y\nb: 2\n"},
		{"wrap with a field beside", "yaml", "a: {n: 1} # c\nb: 2\n", wrapWith(a), "new_one:\n  p.q:\n    \"@type\": x\n    r: {n: 1} # c\nb: 2\n"},
		{"wrap in brackets with a field beside", "yaml", "x: {a: {n: 1}, b: 2}\n", wrapWith(root.Field("x").Field("a")), "x: {new_one: {p.q: {\"@type\": x, r: {n: 1}}}, b: 2}\n"},
		{"wrap lines with a field beside", "yaml", "list:\n- a:\n    n: 1 # c\n  b: 2\n", wrapWith(item(0).Field("a")), "list:\n- new_one:\n    p.q:\n      \"@type\": x\n      r:\n        n: 1 # c\n  b: 2\n"},
		{"wrap in JSON with a field beside", "json", `{"a": {"n": 1}, "b": 2}`, wrapWith(a), `{"new_one": {"p.q": {"@type": "x", "r": {"n": 1}}}, "b": 2}`},
		{"exchange", "yaml", "a: 1 # c\nb: 2\n", exchange(a, true), "new_one: true # c\nb: 2\n"},
		{"exchange for lines", "yaml", "list:\n- a: 1\n  b: 2\n", exchange(item(0).Field("a"), lint.List{fields, "z"}), "list:\n- new_one:\n  - \"@type\": type.googleapis.com/x\n    n: 1\n  - z\n  b: 2\n"},
		{"exchange in brackets", "yaml", "x: {a: y, b: 2}\n", exchange(root.Field("x").Field("a"), lint.List{fields}), "x: {new_one: [{\"@type\": type.googleapis.com/x, n: 1}], b: 2}\n"},
		{"exchange in JSON", "json", `{"a": "y", "b": 2}`, exchange(a, fields), `{"new_one": {"@type": "type.googleapis.com/x", "n": 1}, "b": 2}`},
		{"exchange for what is there", "yaml", "a: 1\nnew_one: 2\n", exchange(a, 1), ""},
		{"exchange an anchor", "yaml", "a: &x 1\nb: *x\n", exchange(a, 1), ""},

		{"join", "yaml", "list:\n- a: 1 # one\n# two\n- b:\n    c: 2\n", join(1), "list:\n- a: 1 # one\n# two\n  b:\n    c: 2\n"},
		{"join the same key", "yaml", "list:\n- a: 1\n- a: 2\n", join(1), ""},
		{"join at another depth", "yaml", "list:\n-   a: 1\n- b: 2\n", join(1), ""},

		{"swap", "yaml", "list:\n# one\n- a: 1\n  b: 2 # one too\n# two\n- c\nb: 2\n", swap(1, 0), "list:\n# two\n- c\n# one\n- a: 1\n  b: 2 # one too\nb: 2\n"},
		{"swap in flow", "json", `{"list": [{"a": 1}, 2, 3]}`, swap(0, 2), `{"list": [3, 2, {"a": 1}]}`},
		{"move to the end", "yaml", "list:\n# one\n- a: 1\n  b: 2 # one too\n- c\n- d # last\nb: 2\n", toEnd(0), "list:\n- c\n- d # last\n# one\n- a: 1\n  b: 2 # one too\nb: 2\n"},
		{"move to the end of the file", "yaml", "list:\n- c\n- d", toEnd(0), "list:\n- d\n- c"},
		{"move in JSON", "json", `{"list": [1, 2, 3]}`, toEnd(0), `{"list": [2, 3, 1]}`},
		{"move the last", "json", `{"list": [1, 2, 3]}`, toEnd(2), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			edits := c.edit(read(t, c.format, c.text))
			if c.want == "" {
				if edits != nil {
					t.Errorf("edited to:\n%s", apply(c.text, edits))
				}
				return
			}
			if got := apply(c.text, edits); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
