package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// edit replaces a part of a text.
type edit struct {
	source.Span
	new   string
	looks string // what the secret looks like; empty: its key or field says that it is one
}

// encodedRedaction is for fields of bytes.
var encodedRedaction = base64.StdEncoding.EncodeToString([]byte(Redaction))

// isRedaction reports whether a text stands for a secret already.
func isRedaction(text string) bool {
	if text == Redaction || text == encodedRedaction {
		return true
	}
	n, numbered := strings.CutPrefix(strings.TrimSuffix(text, "]"), strings.TrimSuffix(Redaction, "]")+" ")
	_, err := strconv.Atoi(n)
	return numbered && err == nil && strings.HasSuffix(text, "]")
}

// apart gives different words for different values while it is on. Otherwise routes that differ only in the value of a header would become equal, and
// some of them unreachable.
type apart struct {
	on    bool
	words map[string]string
}

func (a *apart) word(value string) string {
	switch {
	case !a.on || isRedaction(value):
		return Redaction
	case a.words == nil:
		a.words = map[string]string{value: Redaction}
	case a.words[value] == "":
		a.words[value] = fmt.Sprintf("%s %d]", strings.TrimSuffix(Redaction, "]"), len(a.words)+1)
	}
	return a.words[value]
}

// put replaces a scalar that is a secret. It is marked if its field is sensitive.
func (r *redactor) put(n *tree.Node, text string, marked bool) {
	if n.Text == "" || isRedaction(n.Text) {
		return
	}
	r.note(n.Text, marked)
	r.replace(n, text, "")
}

// note remembers a secret, since other places may have it too.
func (r *redactor) note(text string, marked bool) {
	if (len(text) >= minValue || marked && r.short && len(text) >= minMarked) && !strings.Contains(Redaction, text) {
		r.values = append(r.values, text)
	}
}

func (r *redactor) replace(n *tree.Node, text, looks string) {
	r.edits = append(r.edits, edit{extent(r.text, n), quoted(text), looks})
}

// quoted returns a text in quotes that JSON, YAML and proto text all read.
func quoted(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // any text can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// part redacts secrets within a text that is not itself a secret: what looks like one, and those of a document inside the text, such as the
// configuration of a Wasm plugin or a file in a ConfigMap. The rest of the text keeps its layout if possible.
func (r *redactor) part(n *tree.Node) {
	inner := inside(n.Text, r.types)
	if inner == nil {
		return
	}
	r.values = append(r.values, inner.values...)
	if lines := n.Lines(r.text, inner.text); lines != nil {
		for _, e := range inner.sorted() {
			r.edits = append(r.edits, edit{lines.Span(e.Span), e.new, e.looks})
		}
		return
	}
	at := extent(r.text, n)
	if !n.Plain && len(inner.values) == 0 {
		outer := &redactor{}
		within := source.Span{Start: at.Start + 1, End: at.End - 1} // the quotes
		outer.looks(within, r.text[within.Start:max(within.Start, within.End)])
		if len(outer.edits) == len(inner.edits) {
			r.edits = append(r.edits, outer.edits...)
			return
		}
	}
	r.replace(n, string(inner.apply()), inner.edits[0].looks)
}

// inside finds the secrets within a text that is not itself a secret. It returns nil if there are none.
func inside(text string, types decode.Types) *redactor {
	r := &redactor{text: []byte(text), types: types}
	r.document()
	r.looks(source.Span{End: len(text)}, r.text)
	r.encodedKey(text)
	if len(r.edits) == 0 {
		return nil
	}
	return r
}

// document redacts a text that is JSON or YAML.
func (r *redactor) document() {
	text := strings.TrimSpace(string(r.text))
	file := &source.File{Text: r.text}
	switch {
	case strings.HasPrefix(text, "{"):
		if docs, err := syntax.ParseJSON(file); err == nil {
			r.documents(docs)
		}
	case strings.Contains(text, ":") && strings.Contains(text, "\n"):
		if docs, err := syntax.ParseYAML(file); err == nil && len(docs) > 0 && docs[0].Kind == tree.Map {
			r.documents(docs)
			r.comments(docs)
		}
	}
}

// sorted returns the edits by their places. Overlapping edits are merged: an anchor has one for each alias.
func (r *redactor) sorted() []edit {
	all := slices.Clone(r.edits)
	slices.SortStableFunc(all, func(a, b edit) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var kept []edit
	end := 0
	for _, e := range all {
		switch {
		case e.Start >= end && e.Start < e.End:
			kept, end = append(kept, e), e.End
		case e.End > end:
			kept[len(kept)-1].End, end = e.End, e.End
		}
	}
	return kept
}

func (r *redactor) apply() []byte {
	var out bytes.Buffer
	at := 0
	for _, e := range r.sorted() {
		out.Write(r.text[at:e.Start])
		out.WriteString(e.new)
		at = e.End
	}
	out.Write(r.text[at:])
	return out.Bytes()
}

// extent returns the whole extent of a scalar. The span of a plain scalar on several lines, and of some blocks, covers only the beginning.
func extent(text []byte, n *tree.Node) source.Span {
	span := n.Span()
	if n.Kind != tree.String || span.Start >= len(text) {
		return span
	}
	at := span.Start
	switch c := text[at]; {
	case !n.Plain && (c == '"' || c == '\''):
		return span
	case !n.Plain && (c == '|' || c == '>'):
		at += max(0, bytes.IndexByte(text[at:], '\n'))
	}
	for word := range strings.FieldsSeq(n.Text) {
		at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
		if !bytes.HasPrefix(text[at:], []byte(word)) {
			return span
		}
		at += len(word)
	}
	span.End = max(span.End, at)
	return span
}
