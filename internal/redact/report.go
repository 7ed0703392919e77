package redact

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// Files knows the secrets in the files that a report is about. A file is searched only when a part of it is about to be shown.
type Files struct {
	all       iter.Seq[*graph.Resource]
	resources map[*source.File][]*graph.Resource
	files     map[*source.File]*File
	merged    *File
}

// NewFiles returns the Files of some resources. A resource may occur twice.
func NewFiles(resources iter.Seq[*graph.Resource]) *Files {
	return &Files{all: resources, files: map[*source.File]*File{}}
}

func (s *Files) byFile() map[*source.File][]*graph.Resource {
	if s.resources != nil {
		return s.resources
	}
	s.resources = map[*source.File][]*graph.Resource{}
	known := map[*graph.Resource]bool{}
	for r := range s.all {
		if r != nil && !known[r] {
			known[r] = true
			s.resources[r.File] = append(s.resources[r.File], r)
		}
	}
	return s.resources
}

// Of returns what is known about one file.
func (s *Files) Of(f *source.File) *File {
	known := s.files[f]
	if known == nil {
		known = &File{text: f.Text, hidden: map[int]bool{}}
		var walker graph.Walker
		for _, r := range s.byFile()[f] {
			known.resource(r, &walker)
		}
		known.privateKeys()
		known.sort()
		known.secrets = newValues(known.values, minMarked)
		s.files[f] = known
	}
	return known
}

// Whole is like Of, and includes secrets outside of the file's resources.
func (s *Files) Whole(f *source.File) *File {
	known := *s.Of(f)
	known.hidden = map[int]bool{}
	_, found := Text(f.Name, f.Text, types.Envoy)
	for _, one := range found {
		known.spans = append(known.spans, one.Span)
	}
	known.sort()
	return &known
}

// All knows the secrets of all files together, for texts that may quote any of them.
func (s *Files) All() *File {
	if s.merged == nil {
		s.merged = &File{}
		for f := range s.byFile() {
			s.merged.values = append(s.merged.values, s.Of(f).values...)
		}
		s.merged.secrets = newValues(s.merged.values, minMarked)
	}
	return s.merged
}

// File knows what must not be shown of one file.
type File struct {
	text    []byte
	spans   []source.Span // of secrets, by their beginning
	values  []string
	secrets *values
	hidden  map[int]bool // of long lines, by where they start: a file of one line is asked about it for each finding
	guessed bool         // where its secrets are, line by line: many findings can be about a file as a whole
}

func (h *File) sort() {
	slices.SortFunc(h.spans, func(a, b source.Span) int { return a.Start - b.Start })
}

// Text takes the file's secrets out of a text about it.
func (h *File) Text(s string) string {
	return withoutLooks(h.secrets.replaced(s, InReports), InReports)
}

// Hides reports whether a line, which starts at an offset, must not be shown.
func (h *File) Hides(line []byte, start int) bool {
	const long = 1000
	if len(line) < long {
		return h.hides(line, start)
	}
	hidden, known := h.hidden[start]
	if !known {
		hidden = h.hides(line, start)
		h.hidden[start] = hidden
	}
	return hidden
}

func (h *File) hides(line []byte, start int) bool {
	end := start + len(line)
	for _, span := range h.spans {
		if span.Start >= end {
			break
		}
		if span.End > start {
			return true
		}
	}
	if looksSecret(line) || hasLiteral(line) || h.secrets.long(string(line)) {
		return true
	}
	comment := bytes.IndexByte(line, '#')
	return comment >= 0 && assigns(line[comment:])
}

// privateKeys hides whole PEM blocks, wherever they are.
func (h *File) privateKeys() {
	const mark = privateKey + "-----"
	for at := 0; ; {
		i := bytes.Index(h.text[at:], []byte(mark))
		if i < 0 {
			return
		}
		start := at + i
		end := start + len(mark)
		if j := bytes.Index(h.text[end:], []byte(mark)); j >= 0 {
			end += j + len(mark)
		} else {
			end = len(h.text)
		}
		h.spans = append(h.spans, source.Span{Start: start, End: end})
		at = end
	}
}

func (h *File) resource(r *graph.Resource, by *graph.Walker) {
	switch {
	case r.Object.Secret():
		h.spans = append(h.spans, r.Object.Span)
		h.quoted(r.Text.Root())
	case r.Text != nil && isUnowned(r):
		h.note(func(red *redactor) { red.leaves(r.Text.Root(), false) })
		h.quoted(r.Text.Root())
	}
	if len(r.Problems) > 0 || r.Message == nil {
		// Parts of it are not a message: go by the names of the keys.
		switch {
		case r.Text == nil && h.guessed:
		case r.Text == nil:
			h.guessed = true
			h.note(func(red *redactor) { red.lines(source.Span{End: len(h.text)}, " \t") }) // where its secrets are is guessed
		default:
			h.note(func(red *redactor) { red.unknown(r.Text.Root(), "") })
		}
	}
	by.Walk(r, func(at *graph.Place) { h.place(r, at) })
}

// note hides what a redactor finds in the text, or in a part of it.
func (h *File) note(find func(*redactor)) {
	r := &redactor{text: h.text, types: types.Envoy, short: true}
	find(r)
	h.values = append(h.values, r.values...)
	for _, e := range r.edits {
		h.spans = append(h.spans, e.Span)
	}
}

// quoted hides the values in a Kubernetes Secret, where a text quotes them, or has them in parentheses. Bare, they may be any word.
func (h *File) quoted(n *tree.Node) {
	if n == nil {
		return
	}
	if n.Text != "" {
		h.values = append(h.values, strconv.Quote(n.Text), "("+n.Text+")")
	}
	for i := range n.Items {
		h.quoted(&n.Items[i])
	}
}

func (h *File) place(r *graph.Resource, at *graph.Place) {
	md := at.Message.Descriptor()
	switch name := md.FullName(); {
	case at.Opaque, decode.IsTypedStruct(name), shapeOf(md).suspects(at.Message):
	case name == dataSource, name == "google.protobuf.StringValue":
		textsIn(at.Message, h.document)
		return
	default:
		return
	}
	found := r.Locate(at.Path)
	if found.Exact {
		h.note(func(r *redactor) { r.message(found.Node, md) })
	}
	c := &copier{contents: r.Contents}
	c.message(at.Message)
	for _, value := range c.values {
		if value = strings.TrimSpace(value); len(value) >= minMarked && !isRedaction(value) {
			h.values = append(h.values, value)
		}
	}
}

// document notes the secrets in a text that is JSON, YAML or code in itself.
func (h *File) document(text string) {
	r := &redactor{text: []byte(text), types: types.Envoy}
	r.document()
	r.literals(source.Span{End: len(text)}, r.text)
	h.values = append(h.values, r.values...)
}
