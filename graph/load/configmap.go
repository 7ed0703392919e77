package load

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
)

// configMap reads the texts of a ConfigMap or a Secret: bootstraps, and resources. A bootstrap finds the files that it names among the others,
// by the last part of their paths, since they are mounted together.
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

// texts adds what stands under the keys of one field.
func (o *object) texts(l *loader, field string, encoded bool) {
	values := o.node.Get(field)
	if values == nil || values.Kind != decode.Map {
		return
	}
	for i := range values.Items {
		key, n := values.Keys[i].Name, &values.Items[i]
		at := (*decode.Path)(nil).Entry(field, key)
		if n.Kind == decode.Map || n.Kind == decode.List {
			o.wrong(at, n, `%s stands where a text belongs: begin it with "|" behind the key`, n.Kind)
			continue
		}
		text := []byte(n.Text)
		if encoded {
			var err error
			if text, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Text), "")); err != nil {
				o.wrong(at, n, "this is no base64, which %s holds; plain text belongs under %s", field, plain(o.Kind))
				continue
			}
		}
		if o.in.held += len(text); o.in.bombed() {
			o.wrong(at, n, "aliases expand the texts of this file to more than 16 times its size plus 1,000,000 bytes (an alias bomb?)")
			return
		}
		l.given[key] = text
		l.inputs = append(l.inputs, o.text(l, at, key, n, text, encoded))
	}
}

// bombed tells whether the texts of a file hold more than it does: without aliases they have less than twice its size.
func (in *input) bombed() bool { return in.held > 1_000_000+16*len(in.file.Text) }

// plain is the field for plain text.
func plain(kind string) string {
	if kind == "Secret" {
		return "stringData"
	}
	return "data"
}

// text reads one text, and puts what was read of it where it stands in the object's file.
func (o *object) text(l *loader, at *decode.Path, key string, n *decode.Node, text []byte, encoded bool) *input {
	in := &input{found: found{path: key}, format: formatOf(key), file: &source.File{Name: key}, object: o.Object, within: at}
	l.parse(in, text)
	to, exact := func(source.Span) source.Span { return n.Span() }, false
	if lines := blockLines(o.in.file.Text, n, in.text); lines != nil && !encoded {
		to, exact = lines.span, true
	}
	for _, doc := range in.docs {
		doc.Move(to, !exact || n.Bound || o.Secret()) // an edit would show what stands there
	}
	shift(in.problems, to)
	in.file = o.in.file
	return in
}

// nothing says that no text is anything of xDS, or what keeps them from being read.
func (o *object) nothing(texts []*input) {
	broken := false
	for _, in := range texts {
		for _, p := range in.problems {
			if broken = true; !in.matters() { // else it is reported as that of any file
				p.Path = in.within
				o.problems = append(o.problems, p)
			}
		}
	}
	if !broken {
		o.wrong(nil, find(o.node, "metadata", "labels", Label), `the label %s promises xDS, but no text here is a bootstrap, a discovery response, a config_dump or a resource with an "@type"`, Label)
	}
}

// lines tell where the lines of a literal block (key: |) begin, in the text that it holds and in the file, and where the last one ends.
type lines []struct{ inner, outer int }

// blockLines is nil for any other scalar, and where the lines are not those of the text.
func blockLines(file []byte, n *decode.Node, text []byte) lines {
	start := n.Span().Start
	if start >= len(file) || file[start] != '|' {
		return nil
	}
	_, at := lineEnd(file, start)
	var found lines
	indent := -1
	for inner := 0; inner < len(text); {
		end, after := lineEnd(text, inner)
		outerEnd, outerAfter := lineEnd(file, at)
		begin := outerEnd - (end - inner)
		switch {
		case begin < at || !bytes.Equal(file[begin:outerEnd], text[inner:end]) || len(bytes.Trim(file[at:begin], " ")) > 0:
			return nil
		case end == inner: // an empty line may have less before it
		case indent < 0:
			indent = begin - at
		case indent != begin-at:
			return nil
		}
		found = append(found, struct{ inner, outer int }{inner, begin})
		if inner, at = after, outerAfter; inner == len(text) {
			found = append(found, struct{ inner, outer int }{inner, outerEnd})
		}
	}
	return found
}

// lineEnd is where the line at an offset ends, and where the next one begins.
func lineEnd(text []byte, at int) (end, after int) {
	i := bytes.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text), len(text)
	}
	return at + len(bytes.TrimSuffix(text[at:at+i], []byte("\r"))), at + i + 1
}

func (l lines) span(s source.Span) source.Span {
	return source.Span{Start: l.offset(s.Start), End: l.offset(s.End)}
}

func (l lines) offset(inner int) int {
	low, high := 0, len(l)
	for high-low > 1 {
		if middle := (low + high) / 2; l[middle].inner <= inner {
			low = middle
		} else {
			high = middle
		}
	}
	return l[low].outer + inner - l[low].inner
}
