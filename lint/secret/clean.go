package secret

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
)

// Found is a secret in a text.
type Found struct {
	source.Span
	What string // the path of its field, or what it looks like
}

// Clean takes the secrets out of any text that people have, as Redact does it for JSON of a known message: those in comments too, and those of a
// text that cannot be read. The name tells what the text is. What could be read before can be read afterwards, unless nobody
// knows where its secrets end.
func Clean(name string, text []byte, types decode.Types) ([]byte, []Found) {
	r := &redactor{text: text, types: types}
	docs, err := parse(name, text)
	if err == nil {
		r.documents(docs)
		r.comments(docs)
		r.repeated(docs)
	}
	clean := r.apply()
	if err != nil || r.remain(name, clean) {
		r.lines()
		clean = r.apply()
		for _, value := range r.values { // better a text that is broken than a secret
			clean = bytes.ReplaceAll(clean, []byte(value), []byte(Redaction))
		}
	}
	var found []Found
	for _, e := range r.sorted() {
		what := e.looks
		if what == "" {
			what = pathOf(docs, e.Start)
		}
		found = append(found, Found{e.Span, what})
	}
	return clean, found
}

func parse(name string, text []byte) ([]*decode.Node, error) {
	file := &source.File{Name: name, Text: text}
	switch start := bytes.TrimSpace(text); strings.ToLower(filepath.Ext(name)) {
	case ".pb_text", ".textproto", ".txtpb":
		return decode.ParseProtoText(file)
	case ".json":
		return decode.ParseJSON(file)
	default:
		if bytes.HasPrefix(start, []byte("{")) {
			if docs, err := decode.ParseJSON(file); err == nil {
				return docs, nil
			}
		}
		return decode.ParseYAML(file)
	}
}

// documents redacts what was read of a text: bootstraps by their message, all else by the types that it names, or by its keys.
func (r *redactor) documents(docs []*decode.Node) {
	for _, doc := range docs {
		if doc.Field("static_resources") != nil || doc.Field("dynamic_resources") != nil {
			r.named(doc, "envoy.config.bootstrap.v3.Bootstrap")
		} else {
			r.entry(doc, "", "")
		}
	}
}

// remain tells whether something is left of the secrets, or the text is broken: a shape of YAML whose ends nobody knows.
func (r *redactor) remain(name string, clean []byte) bool {
	if slices.ContainsFunc(r.values, func(v string) bool { return bytes.Contains(clean, []byte(v)) }) {
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

// scalars lists all of them by their places.
func (r *redactor) scalars(docs []*decode.Node) []scalar {
	var all []scalar
	var walk func(n *decode.Node)
	walk = func(n *decode.Node) {
		if n.Kind != decode.List && n.Kind != decode.Map {
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

// comments looks into the comments: configurations that are no longer in use stand there too.
func (r *redactor) comments(docs []*decode.Node) {
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
			if run.IsZero() {
				run.Start = offset + start
			}
			run.End = offset + len(bytes.TrimRight(line, "\r\n"))
		}
		offset += len(line)
	}
	r.commented(run)
}

// comment finds where the comment of a line begins; -1: it has none.
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
	offset := run.Start
	for line := range bytes.Lines(part) {
		r.assigned(offset, line)
		offset += len(line)
	}
	for i := before; i < len(r.edits); i++ {
		r.edits[i].looks += ", in a comment"
	}
}

// repeated looks for the secrets that were found where nothing says that they are secrets.
func (r *redactor) repeated(docs []*decode.Node) {
	var scalars []scalar
	for _, value := range r.values {
		for offset := 0; ; {
			i := bytes.Index(r.text[offset:], []byte(value))
			if i < 0 {
				break
			}
			span := source.Span{Start: offset + i, End: offset + i + len(value)}
			offset = span.End
			if slices.ContainsFunc(r.edits, func(e edit) bool { return e.Start < span.End && span.Start < e.End }) {
				continue
			}
			if scalars == nil {
				scalars = r.scalars(docs)
			}
			const looks = "a secret that stands elsewhere too"
			if s := at(scalars, span.Start); s != nil && s.plain {
				r.edits = append(r.edits, edit{s.Span, quoted(strings.ReplaceAll(s.text, value, Redaction)), looks})
			} else {
				r.edits = append(r.edits, edit{span, Redaction, looks})
			}
		}
	}
}

// pathOf is the path of the scalar at an offset.
func pathOf(docs []*decode.Node, offset int) string {
	path := ""
	var walk func(n *decode.Node)
	walk = func(n *decode.Node) {
		for i := range n.Items {
			item := &n.Items[i]
			if span := item.Span(); offset < span.Start || offset >= span.End {
				continue
			}
			switch {
			case n.Kind == decode.List:
				path += fmt.Sprintf("[%d]", i)
			case path == "":
				path = n.Keys[i].Name
			default:
				path += "." + n.Keys[i].Name
			}
			walk(item)
			return
		}
	}
	for _, doc := range docs {
		if span := doc.Span(); offset >= span.Start && offset < span.End {
			walk(doc)
		}
	}
	return path
}
