package load

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/reserve"
	"github.com/xdslint/xdslint/internal/tree"
)

// mount reads the texts of a ConfigMap or a Secret: bootstraps and resources. The files that a bootstrap names are
// looked up among the other texts, by the last part of their paths, since they are mounted together. It returns why the
// object is not read.
func (l *loader) mount(o *object) (why string) {
	label := find(o.node, "metadata", "labels", Label)
	switch {
	case o.declined():
		return fmt.Sprintf("a %s with the label %s: false", o.Kind, Label)
	case label == nil && !o.marked():
		return o.unmarked()
	}
	o.texts = l.within()
	for _, field := range textFields {
		o.add(field)
	}
	xds := false
	for _, in := range o.texts.inputs {
		o.texts.recognise(in)
		if label == nil {
			xds = in.doubt(o.in.named) || xds
		} else {
			xds = xds || in.as != nothing
		}
	}
	switch {
	case xds:
	case label == nil:
		return o.unmarked()
	case len(o.problems) == 0:
		o.nothing(o.texts.inputs)
	}
	return ""
}

// declined reports whether the label says that an object is not to be read.
func (o *object) declined() bool { return textOf(find(o.node, "metadata", "labels", Label)) == "false" }

// within returns a loader of the texts in an object.
func (l *loader) within() *loader {
	inner := &loader{ctx: l.ctx, opts: l.opts, types: l.types, given: map[string][]byte{}}
	inner.opts.ConfigYAML, inner.opts.Progress = "", nil
	return inner
}

// unmarked is why an object without the label is not read. Most do not hold xDS.
func (o *object) unmarked() string {
	return fmt.Sprintf("a %s in which no text is plainly xDS, and without the label %s", o.Kind, Label)
}

// marks are in every text that is plainly xDS.
var marks = [][]byte{[]byte("type.googleapis.com/envoy."), []byte("static_resources"), []byte("dynamic_resources")}

func hasMark(text []byte) bool {
	return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(text, mark) })
}

// marked reports whether a text of an object may be xDS, without parsing it.
func (o *object) marked() bool {
	for _, field := range textFields {
		values := o.node.Get(field)
		if values == nil || values.Kind != tree.Map {
			continue
		}
		for i := range values.Items {
			text := []byte(values.Items[i].Text)
			if o.encoded(field) {
				text, _ = fromBase64(text) // what is not base64 has no mark
			}
			if hasMark(text) {
				return true
			}
		}
	}
	return false
}

// textFields are the fields of a ConfigMap or Secret with texts by keys.
var textFields = []string{"data", "stringData", "binaryData"}

// encoded reports whether a field has its texts in base64.
func (o *object) encoded(field string) bool {
	return field == "binaryData" || field == "data" && o.Kind == "Secret"
}

func fromBase64(text []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), ""))
}

// doubt reports whether a text is plainly xDS, although no label says so, or is meant to be and cannot be read: it has
// the extension of an xDS file and a mark. Otherwise only a bootstrap that names it makes it xDS. That a template must
// be rendered is reported if a path names the file.
func (in *input) doubt(named bool) bool {
	if slices.ContainsFunc(in.docs, plainly) {
		return true
	}
	if len(in.problems) > 0 && formatOf(in.path) != unknownFormat && hasMark(in.text) && (named || in.problems[0].Name != "template") {
		return true
	}
	in.problems = nil
	if in.as != response && in.as != deltaResponse {
		in.as = nothing
	}
	return false
}

// add adds the texts under the keys of one field.
func (o *object) add(field string) {
	values := o.node.Get(field)
	if values == nil || values.Kind != tree.Map {
		return
	}
	for i := range values.Items {
		key, n := values.Keys[i].Name, &values.Items[i]
		at := (*graph.Path)(nil).Entry(field, key)
		if n.Kind == tree.Map || n.Kind == tree.List {
			o.wrong(at, n, `%s where a text is expected: write "|" after the key`, n.Kind)
			continue
		}
		text := []byte(n.Text)
		if o.encoded(field) {
			var err error
			if text, err = fromBase64(text); err != nil {
				o.wrong(at, n, "%s must be base64, and this is not; write plain text under %s", field, plain(o.Kind))
				continue
			}
		}
		o.texts.given[key] = text
		o.texts.inputs = append(o.texts.inputs, o.text(at, key, n, text, o.encoded(field)))
	}
}

// plain returns the field for plain text.
func plain(kind string) string {
	if kind == "Secret" {
		return "stringData"
	}
	return "data"
}

// text reads one text, and moves its nodes to their places in the object's file.
func (o *object) text(at *graph.Path, key string, n *graph.TextNode, text []byte, encoded bool) *input {
	in := &input{found: found{path: key}, format: formatOf(key), file: &graph.SourceFile{Name: key}, object: o.Object, within: at}
	lines := n.Lines(o.in.file.Text, text)
	if !o.reserve(n, text, lines != nil) {
		return in
	}
	o.texts.parse(in, text)
	to, exact := func(graph.Span) graph.Span { return n.Span() }, false
	if lines != nil && !encoded {
		to, exact = lines.Span, true
	}
	for _, doc := range in.docs {
		doc.Move(to, !exact || n.Bound || o.Secret()) // an edit would show the content
	}
	shift(in.problems, to)
	in.file = o.in.file
	return in
}

// reserve waits for the memory that reading a text can take. The lines of a literal block are counted in its file, once:
// aliases repeat them.
func (o *object) reserve(n *graph.TextNode, text []byte, block bool) bool {
	if block && !n.Bound {
		return reserve.Block(o.texts.ctx, text)
	}
	return reserve.Reading(o.texts.ctx, text)
}

// nothing reports that no text is xDS, or why none can be read.
func (o *object) nothing(texts []*input) {
	broken := false
	for _, in := range texts {
		for _, p := range in.problems {
			if broken = true; !in.matters() { // else it is reported as in any file
				p.Path = in.within
				o.problems = append(o.problems, p)
			}
		}
	}
	if !broken {
		o.wrong(nil, find(o.node, "metadata", "labels", Label), `the object has the label %s, but no text in it is a bootstrap, a discovery response, a config_dump or a resource with an "@type"`, Label)
	}
}
