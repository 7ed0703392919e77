package redact

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Found is a secret in a text.
type Found struct {
	source.Span
	What string // the path of its field, or what it looks like
}

// Text redacts any text, as JSON does for a known message. It includes comments, and texts that cannot be parsed. The name of the file says which
// format the text has. A text that could be parsed still can be, unless the end of a secret cannot be determined.
func Text(name string, text []byte, types decode.Types) ([]byte, []Found) {
	r := &redactor{text: text, types: types}
	docs, err := parse(name, text)
	if err == nil {
		r.documents(docs)
		r.comments(docs)
		r.repeated(docs)
	}
	clean := r.apply()
	if err != nil || r.remain(name, clean) {
		all := source.Span{End: len(text)}
		r.looks(all, text)
		r.lines(all, " \t")
		clean = []byte(newValues(r.values, minValue).replaced(string(r.apply()), Redaction)) // better a text that is broken than a secret
	}
	var found []Found
	edits := r.sorted()
	paths := pathsOf(docs, edits)
	for _, e := range edits {
		found = append(found, Found{e.Span, cmp.Or(e.looks, paths[e.Start])})
	}
	return clean, found
}

func parse(name string, text []byte) ([]*tree.Node, error) {
	file := &source.File{Name: name, Text: text}
	switch start := bytes.TrimSpace(text); strings.ToLower(filepath.Ext(name)) {
	case ".pb_text", ".textproto", ".txtpb":
		return syntax.ParseProtoText(file)
	case ".json":
		return syntax.ParseJSON(file)
	default:
		if bytes.HasPrefix(start, []byte("{")) {
			if docs, err := syntax.ParseJSON(file); err == nil {
				return docs, nil
			}
		}
		return syntax.ParseYAML(file)
	}
}

// documents redacts the documents of a text: bootstraps by their message, others by the types that they name, or by their keys.
func (r *redactor) documents(docs []*tree.Node) {
	for _, doc := range docs {
		if doc.Field("static_resources") != nil || doc.Field("dynamic_resources") != nil {
			r.named(doc, "envoy.config.bootstrap.v3.Bootstrap")
		} else {
			r.entry(doc, "", "")
		}
	}
}

// remain reports whether parts of secrets are left, or the text is broken: some forms of YAML do not show where a value ends.
func (r *redactor) remain(name string, clean []byte) bool {
	if len(newValues(r.values, minValue).in(string(clean))) > 0 {
		return true
	}
	if len(r.edits) == 0 {
		return false
	}
	again := &redactor{text: clean, types: r.types}
	docs, err := parse(name, clean)
	again.documents(docs)
	return err != nil || len(again.edits) > 0
}

// scalar is a text or a key.
type scalar struct {
	source.Span
	text  string
	plain bool
}

// scalars lists all texts and keys by their places.
func (r *redactor) scalars(docs []*tree.Node) []scalar {
	var all []scalar
	var walk func(n *tree.Node)
	walk = func(n *tree.Node) {
		if n.Kind != tree.List && n.Kind != tree.Map {
			all = append(all, scalar{extent(r.text, n), n.Text, n.Plain})
		}
		for _, key := range n.Keys {
			span := key.Span()
			all = append(all, scalar{span, key.Name, span.Start < len(r.text) && !strings.ContainsRune(`"'`, rune(r.text[span.Start]))})
		}
		for i := range n.Items {
			walk(&n.Items[i])
		}
	}
	for _, doc := range docs {
		walk(doc)
	}
	slices.SortStableFunc(all, func(a, b scalar) int { return a.Start - b.Start })
	return slices.CompactFunc(all, func(a, b scalar) bool { return a.Span == b.Span }) // an alias repeats
}

// at finds the scalar that an offset is in; nil if it is in none.
func at(all []scalar, offset int) *scalar {
	i, exact := slices.BinarySearchFunc(all, offset, func(s scalar, offset int) int { return s.Start - offset })
	if !exact {
		i--
	}
	if i >= 0 && offset < all[i].End {
		return &all[i]
	}
	return nil
}

// comments redacts the comments: they may contain configurations that are no longer in use.
func (r *redactor) comments(docs []*tree.Node) {
	if bytes.IndexByte(r.text, '#') < 0 {
		return
	}
	scalars := r.scalars(docs)
	offset, run := 0, source.Span{}
	for line := range bytes.Lines(r.text) {
		start := r.comment(scalars, offset, line)
		alone := start >= 0 && len(bytes.TrimSpace(line[:start])) == 0
		if !alone || start < 0 {
			r.commented(run)
			run = source.Span{}
		}
		if start >= 0 {
			switch {
			case !run.IsZero():
			case alone:
				run.Start = offset // the indent shows what is below what
			default:
				run.Start = offset + start
			}
			run.End = offset + len(bytes.TrimRight(line, "\r\n"))
		}
		offset += len(line)
	}
	r.commented(run)
}

// comment returns where the comment of a line begins, -1 if it has none.
func (r *redactor) comment(scalars []scalar, offset int, line []byte) int {
	for i, c := range line {
		if c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') && at(scalars, offset+i) == nil {
			return i
		}
	}
	return -1
}

// commented redacts the comments of lines that follow one another.
func (r *redactor) commented(run source.Span) {
	part := r.text[run.Start:run.End]
	before := len(r.edits)
	r.looks(run, part)
	r.lines(run, " \t#")
	for i := before; i < len(r.edits); i++ {
		r.edits[i].looks += ", in a comment"
	}
}

// repeated redacts known secrets in places where nothing says that they are secrets.
func (r *redactor) repeated(docs []*tree.Node) {
	known := newValues(r.values, minValue)
	var scalars []scalar
	taken, end := r.sorted(), 0
	for _, span := range known.in(string(r.text)) {
		for len(taken) > 0 && taken[0].End <= span.Start {
			taken = taken[1:]
		}
		if span.Start < end || len(taken) > 0 && taken[0].Start < span.End {
			continue
		}
		if scalars == nil {
			scalars = r.scalars(docs)
		}
		e := edit{span, Redaction, "a secret that is elsewhere too"}
		if s := at(scalars, span.Start); s != nil && s.plain {
			e.Span, e.new = s.Span, quoted(known.replaced(s.text, Redaction))
		}
		r.edits, end = append(r.edits, e), e.End
	}
}

// pathsOf returns the paths of the values where the edits begin. The edits are sorted.
func pathsOf(docs []*tree.Node, edits []edit) map[int]string {
	paths := map[int]string{}
	var walk func(n *tree.Node, path string)
	walk = func(n *tree.Node, path string) {
		span := n.Span()
		within, _ := slices.BinarySearchFunc(edits, span.Start, func(e edit, start int) int { return e.Start - start })
		if within == len(edits) || edits[within].Start >= span.End {
			return
		}
		for i := range n.Items {
			switch {
			case n.Kind == tree.List:
				walk(&n.Items[i], fmt.Sprintf("%s[%d]", path, i))
			case path == "":
				walk(&n.Items[i], n.Keys[i].Name)
			default:
				walk(&n.Items[i], path+"."+n.Keys[i].Name)
			}
		}
		for ; within < len(edits) && edits[within].Start < span.End; within++ {
			if start := edits[within].Start; paths[start] == "" { // else it is deeper
				paths[start] = path
			}
		}
	}
	for _, doc := range docs {
		walk(doc, "")
	}
	return paths
}
