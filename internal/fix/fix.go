package fix

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"github.com/xdslint/xdslint/lint"
)

// Of returns the fix of a finding that may be applied: the first safe one, or with unsafe the first of any kind. It returns nil
// if there is none.
func Of(d *lint.Diagnostic, unsafe bool) *lint.Fix {
	for i := range d.Fixes {
		if fix := &d.Fixes[i]; len(fix.Edits) > 0 && (fix.Safe || unsafe) {
			return fix
		}
	}
	return nil
}

// Apply returns a text with the fixes of its findings, and how many were applied. Of two that overlap, the first is applied;
// to apply the other too, lint the new text and call Apply again. Equal fixes of two findings count once.
func Apply(text []byte, found []lint.Diagnostic, unsafe bool) (fixed []byte, applied int) {
	p := newPatch(text)
	for i := range found {
		if fix := Of(&found[i], unsafe); fix != nil && p.add(fix.Edits) {
			applied++
		}
	}
	return p.apply(), applied
}

// patch is a set of edits of one text that do not touch one another.
type patch struct {
	text  []byte
	edits []lint.Edit // by their places
	known map[string]bool
}

func newPatch(text []byte) *patch { return &patch{text: text, known: map[string]bool{}} }

// add adds the edits of one fix, all or none.
func (p *patch) add(edits []lint.Edit) bool {
	id := fmt.Sprint(edits)
	if p.known[id] {
		return false
	}
	for i, e := range edits {
		if e.Span.Start < 0 || e.Span.Start > e.Span.End || e.Span.End > len(p.text) || p.meets(e) {
			return false
		}
		for _, other := range edits[:i] {
			if e.Span.Start < other.Span.End && other.Span.Start < e.Span.End {
				return false
			}
		}
	}
	p.known[id] = true
	for _, e := range edits {
		p.edits = slices.Insert(p.edits, p.behind(e), e)
	}
	return true
}

// behind returns the index of the first edit after e.
func (p *patch) behind(e lint.Edit) int {
	return sort.Search(len(p.edits), func(i int) bool { return p.edits[i].Span.Start > e.Span.Start })
}

// meets reports whether an edit overlaps or touches an existing one. If one of the two deletes, there must be content between
// them: together they could empty a map or list of which each alone leaves an element.
func (p *patch) meets(e lint.Edit) bool {
	i := p.behind(e)
	return i < len(p.edits) && p.close(e, p.edits[i]) || i > 0 && p.close(p.edits[i-1], e)
}

func (p *patch) close(a, b lint.Edit) bool {
	if a.Span.End >= b.Span.Start {
		return true
	}
	return (a.New == "" || b.New == "") && nothing(p.text[a.Span.End:b.Span.Start])
}

// nothing reports whether a text contains only white space and comments.
func nothing(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func (p *patch) apply() []byte {
	var out bytes.Buffer
	at := 0
	for _, e := range p.edits {
		out.Write(p.text[at:e.Span.Start])
		out.WriteString(e.New)
		at = e.Span.End
	}
	out.Write(p.text[at:])
	return out.Bytes()
}
