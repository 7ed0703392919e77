package load

import (
	"encoding/base64"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
)

// configMap reads the texts of a ConfigMap or a Secret: bootstraps and resources. The files that a bootstrap names are
// looked up among the other texts, by the last part of their paths, since they are mounted together.
func (l *loader) configMap(o *object) ([]*graph.Snapshot, error) {
	within := &loader{ctx: l.ctx, opts: l.opts, types: l.types, given: map[string][]byte{}}
	within.opts.ConfigYAML, within.opts.Progress = "", nil
	for _, field := range []string{"data", "stringData", "binaryData"} {
		encoded := field == "binaryData" || field == "data" && o.Kind == "Secret"
		o.texts(within, field, encoded)
	}
	xds := false
	for _, in := range within.inputs {
		in.recognise()
		xds = xds || in.as != nothing && in.as != manifest
	}
	if !xds && len(o.problems) == 0 {
		o.nothing(within.inputs)
	}
	return within.snapshots()
}

// texts adds the texts under the keys of one field.
func (o *object) texts(l *loader, field string, encoded bool) {
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
		if encoded {
			var err error
			if text, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Text), "")); err != nil {
				o.wrong(at, n, "%s must be base64, and this is not; write plain text under %s", field, plain(o.Kind))
				continue
			}
		}
		l.given[key] = text
		l.inputs = append(l.inputs, o.text(l, at, key, n, text, encoded))
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
func (o *object) text(l *loader, at *graph.Path, key string, n *graph.TextNode, text []byte, encoded bool) *input {
	in := &input{found: found{path: key}, format: formatOf(key), file: &graph.SourceFile{Name: key}, object: o.Object, within: at}
	l.parse(in, text)
	to, exact := func(graph.Span) graph.Span { return n.Span() }, false
	if lines := n.Lines(o.in.file.Text, in.text); lines != nil && !encoded {
		to, exact = lines.Span, true
	}
	for _, doc := range in.docs {
		doc.Move(to, !exact || n.Bound || o.Secret()) // an edit would show the content
	}
	shift(in.problems, to)
	in.file = o.in.file
	return in
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
