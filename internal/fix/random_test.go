package fix_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

// treeNode is what a text says.
type treeNode struct {
	Kind  tree.Kind
	Text  string
	Keys  []string
	Items []*treeNode
}

func treeOf(n *tree.Node) *treeNode {
	t := &treeNode{Kind: n.Kind, Text: n.Text}
	for _, key := range n.Keys {
		t.Keys = append(t.Keys, key.Name)
	}
	for i := range n.Items {
		t.Items = append(t.Items, treeOf(&n.Items[i]))
	}
	return t
}

// writer writes random trees in a random layout, with comments that say what they are about.
type writer struct {
	*rapid.T
	eol      string
	comments bool
	steps    []step
}

// step is one element of a collection in the text.
type step struct {
	path *tree.Path
	list *tree.Path // that it is an element of, nil for a field
	i    int
}

func (w *writer) chance(percent int, what string) bool {
	return rapid.IntRange(0, 99).Draw(w.T, what) < percent
}

func (w *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.T, "pick") }

// yamlScalars over several lines have "↵" and the indentation where lines break.
var yamlScalars = []string{
	"x", "a b", "1", "-5s", "true", "", "'it''s'", `"a # b"`, `"a, b"`, "a:b", "http://x/y?z#w", "|↵  one↵↵  two", "|-↵  # no comment", ">↵  one↵  two",
	"|+↵  one↵", "one↵  two", "\"one↵  two\"", "|2↵   one", "{}", "[]", "~",
}

func (w *writer) block(indent string, at *tree.Path, depth int) string {
	var b strings.Builder
	for _, key := range w.keys() {
		path := at.Field(strings.Trim(key, `"'`))
		w.steps = append(w.steps, step{path: path})
		b.WriteString(w.above(indent, path) + indent + key + ":" + w.blockValue(indent, path, depth))
	}
	return b.String()
}

func (w *writer) keys() []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", `"c"`, "d_e", "'f'"}), 1, 3, rapid.ID).Draw(w.T, "keys")
}

func (w *writer) above(indent string, at *tree.Path) string {
	if !w.comments || !w.chance(20, "comment above") {
		return ""
	}
	return indent + "# above " + at.String() + ";" + w.eol
}

func (w *writer) beside(at *tree.Path) string {
	if !w.comments || !w.chance(20, "comment beside") {
		return w.eol
	}
	return "  # beside " + at.String() + ";" + w.eol
}

func (w *writer) blockValue(indent string, at *tree.Path, depth int) string {
	kind := w.pick("scalar", "map", "list", "flow")
	switch {
	case kind == "map" && depth > 0:
		return w.beside(at) + w.block(indent+w.pick("  ", "    "), at, depth-1)
	case kind == "list" && depth > 0:
		head := w.beside(at)
		return head + w.blockList(indent+w.pick("", "  "), at, depth-1)
	case kind == "flow" && depth > 0:
		return " " + w.flow(at, depth-1, false) + w.beside(at)
	}
	lines := strings.Split(rapid.SampledFrom(yamlScalars).Draw(w.T, "scalar"), "↵")
	if len(lines) == 1 {
		return strings.TrimRight(" "+lines[0], " ") + w.beside(at)
	}
	for i := 1; i < len(lines); i++ {
		if lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return " " + strings.Join(lines, w.eol) + w.eol
}

func (w *writer) blockList(indent string, at *tree.Path, depth int) string {
	var b strings.Builder
	for i := range rapid.IntRange(1, 3).Draw(w.T, "elements") {
		path := at.Parent().Item(at.Name(), i)
		w.steps = append(w.steps, step{path: path, list: at, i: i})
		b.WriteString(w.above(indent, path) + indent + "-")
		if depth > 0 && w.chance(50, "map") {
			inner := w.block(indent+"  ", path, depth-1)
			if trimmed := strings.TrimLeft(inner, " "); trimmed[0] != '#' {
				inner = " " + trimmed
			} else {
				inner = w.eol + inner
			}
			b.WriteString(inner)
		} else {
			b.WriteString(" " + w.pick("x", "'y'", "7", "[1, 2]") + w.beside(path))
		}
	}
	return b.String()
}

// flow writes in brackets, as YAML or as JSON.
func (w *writer) flow(at *tree.Path, depth int, json bool) string {
	separator, opened, closed := ", ", "", ""
	if json && w.chance(50, "lines") {
		indent := strings.Repeat("\t", 3-depth)
		separator, opened, closed = ","+w.eol+indent, w.eol+indent, w.eol+indent[1:]
	}
	scalar := func() string {
		if json {
			return w.pick(`"x"`, "1", "true", "null", `"a, b"`, "{}", "[]")
		}
		return w.pick("x", "a b", "1", "'y'", `"a, b"`, "{}", "[]")
	}
	if w.chance(50, "list") && at != nil {
		var parts []string
		for i := range rapid.IntRange(1, 3).Draw(w.T, "elements") {
			path := at.Parent().Item(at.Name(), i)
			w.steps = append(w.steps, step{path: path, list: at, i: i})
			parts = append(parts, scalar())
		}
		return "[" + opened + strings.Join(parts, separator) + closed + "]"
	}
	var parts []string
	for _, key := range w.keys() {
		path := at.Field(strings.Trim(key, `"'`))
		w.steps = append(w.steps, step{path: path})
		if json {
			key = `"` + strings.Trim(key, `"'`) + `"`
		}
		value := scalar
		if depth > 0 && w.chance(50, "deeper") {
			value = func() string { return w.flow(path, depth-1, json) }
		}
		parts = append(parts, key+": "+value())
	}
	return "{" + opened + strings.Join(parts, separator) + closed + "}"
}

// random draws a text and the places in it.
func random(t *rapid.T) (format, text string, steps []step) {
	w := &writer{T: t, eol: rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol"), comments: rapid.Bool().Draw(t, "comments")}
	if format = w.pick("yaml", "yaml", "json"); format == "json" {
		text = w.flow(nil, 2, true)
	} else {
		text = w.block("", nil, 3)
	}
	if w.chance(20, "no newline at the end") {
		text = strings.TrimSuffix(text, w.eol)
	}
	return format, text, w.steps
}

// TestEditsSayWhatTheyMean: after each edit of each random text, the text has the same meaning except for that edit. Some edits are possible only in few
// texts, so the test continues until each edit was tried.
func TestEditsSayWhatTheyMean(t *testing.T) {
	offered := map[string]int{}
	for range 50 {
		rapid.Check(t, func(t *rapid.T) { checkRandom(t, offered) })
		if len(offered) == len(edits) || t.Failed() {
			return
		}
	}
	t.Errorf("of %v only %v were ever offered", edits, offered)
}

func checkRandom(t *rapid.T, offered map[string]int) {
	format, text, steps := random(t)
	file := &source.File{Text: []byte(text)}
	var docs []*tree.Node
	var err error
	if format == "json" {
		docs, err = syntax.ParseJSON(file)
	} else {
		docs, err = syntax.ParseYAML(file)
	}
	if err != nil || len(docs) != 1 || len(steps) == 0 {
		t.Skip("not readable")
	}
	p := read(t, format, text)
	at := rapid.SampledFrom(steps).Draw(t, "place")
	for _, op := range edits {
		checkEdit(t, p, op, at, offered)
	}
}

var edits = []string{"replace", "rename", "remove", "insert", "wrap", "exchange", "swap", "end"}

func checkEdit(t *rapid.T, p place, op string, at step, offered map[string]int) {
	text := string(p.r.File.Text)
	want := treeOf(p.r.Text.Root())
	in, i := want.find(at.path)
	if in == nil {
		return // a duplicate
	}
	made, lost := edit(t, p, op, at, in, i)
	if made == nil {
		return
	}
	offered[op]++
	got := apply(text, made)
	if diff := cmp.Diff(want, treeOf(read(t, p.r.File.Name[2:], got).r.Text.Root())); diff != "" {
		t.Fatalf("%s %s of\n%s\ngives\n%s\n%s", op, at.path, text, got, diff)
	}
	for _, comment := range commentsOf(text) {
		if about := comment[strings.Index(comment, " ")+1:]; !strings.Contains(got, comment) && !(lost != "" && strings.HasPrefix(about, lost)) {
			t.Fatalf("%s %s of\n%s\nloses %q:\n%s", op, at.path, text, comment, got)
		}
	}
}

var comment = regexp.MustCompile(`(?:above|beside) [^;\n]*;`)

func commentsOf(text string) []string { return comment.FindAllString(text, -1) }

// find leads to the collection that an element is in, and its index.
func (t *treeNode) find(p *tree.Path) (in *treeNode, i int) {
	holder := t
	if p.Parent() != nil {
		up, j := t.find(p.Parent())
		if up == nil {
			return nil, 0
		}
		holder = up.Items[j]
	}
	if i = slices.Index(holder.Keys, p.Name()); i < 0 {
		return nil, 0
	}
	if n := p.Index(); n >= 0 {
		return holder.Items[i], n
	}
	return holder, i
}

// edit makes the edit, and does the same to the tree. lost is the text whose comments may be lost too.
func edit(t *rapid.T, p place, op string, at step, in *treeNode, i int) (edits lint.Edits, lost string) {
	item := in.Items[i]
	switch op {
	case "replace":
		value := rapid.SampledFrom([]string{"V3", "it's", "a: b", "no", "12", "", "é \"x\"", "x # y"}).Draw(t, "value")
		*item = treeNode{Kind: tree.String, Text: value}
		return lint.Replace(p.at(at.path), value), ""
	case "rename":
		if in.Kind == tree.Map {
			in.Keys[i] = "brand_new"
		}
		return lint.Rename(p.at(at.path), "brand_new"), ""
	case "remove":
		in.Items = slices.Delete(in.Items, i, i+1)
		if in.Kind == tree.Map {
			in.Keys = slices.Delete(in.Keys, i, i+1)
		}
		if len(in.Items) == 0 {
			in.Items, in.Keys = nil, nil
		}
		return lint.Remove(p.at(at.path)), at.path.String()
	case "insert":
		item.Keys, item.Items = append(item.Keys, "brand_new"), append(item.Items, &treeNode{Kind: tree.Map, Keys: []string{"x"}, Items: []*treeNode{{Kind: tree.String, Text: "y"}}})
		return lint.Insert(p.at(at.path), "brand_new", lint.Fields{{Name: "x", Value: "y"}}), ""
	case "wrap":
		if in.Kind == tree.Map {
			in.Keys[i], in.Items[i] = "brand_new", &treeNode{Kind: tree.Map, Keys: []string{"x"}, Items: []*treeNode{item}}
		}
		return lint.Wrap(p.at(at.path), "brand_new", into("x")), ""
	case "exchange":
		if in.Kind == tree.Map {
			in.Keys[i], in.Items[i] = "brand_new", &treeNode{Kind: tree.List, Items: []*treeNode{{Kind: tree.Map, Keys: []string{"x"}, Items: []*treeNode{{Kind: tree.String, Text: "y"}}}}}
		}
		return lint.Exchange(p.at(at.path), "brand_new", lint.List{lint.Fields{{Name: "x", Value: "y"}}}), at.path.String()
	case "swap":
		if at.list == nil {
			return nil, ""
		}
		j := rapid.IntRange(0, len(in.Items)-1).Draw(t, "other")
		in.Items[i], in.Items[j] = in.Items[j], in.Items[i]
		return lint.Swap(p.at(at.path), p.at(at.list.Parent().Item(at.list.Name(), j))), ""
	case "end":
		if at.list == nil {
			return nil, ""
		}
		in.Items = append(slices.Delete(in.Items, i, i+1), item)
		return lint.MoveToEnd(p.at(at.path)), ""
	}
	panic(fmt.Sprint("no such edit: ", op))
}
