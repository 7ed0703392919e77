package lint

import (
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
)

// A text that is edited moves the resources behind the edit (load.Earlier). A judgement about a resource that only moved holds, and its findings
// move along.

// pin is a resource that findings point into, and where its text began when they were made.
type pin struct {
	in *graph.Resource
	at int
}

// pin notes where the findings of a judgement point to.
func (j *judgement) pin() {
	note := func(r *graph.Resource) {
		if r != nil && !slices.ContainsFunc(j.pins, func(p pin) bool { return p.in == r }) {
			j.pins = append(j.pins, pin{r, tree.Begin(r.Text)})
		}
	}
	for i := range j.Diagnostics {
		d := &j.Diagnostics[i]
		note(d.Resource)
		for _, related := range d.Related {
			note(related.Resource)
		}
		for _, fix := range d.Fixes {
			for _, e := range fix.Edits {
				note(e.in)
			}
		}
	}
}

// lost reports whether a finding points into one of the resources.
func (j *judgement) lost(gone map[*graph.Resource]bool) bool {
	return slices.ContainsFunc(j.pins, func(p pin) bool { return gone[p.in] })
}

// now returns the findings of a judgement at the places where they are now.
func (j *judgement) now() *Result {
	if !slices.ContainsFunc(j.pins, func(p pin) bool { return p.moved() != 0 }) {
		return &j.Result
	}
	moved := j.Result
	moved.Diagnostics = slices.Clone(j.Diagnostics)
	for i := range moved.Diagnostics {
		j.move(&moved.Diagnostics[i])
	}
	return &moved
}

// moved is how far the text has moved since.
func (p pin) moved() int { return tree.Begin(p.in.Text) - p.at }

func (j *judgement) move(d *Diagnostic) {
	move := func(s *graph.Span, in *graph.Resource) {
		i := slices.IndexFunc(j.pins, func(p pin) bool { return p.in == in })
		if i < 0 || s.IsZero() {
			return
		}
		by := j.pins[i].moved()
		s.Start, s.End = s.Start+by, s.End+by
	}
	move(&d.Span, d.Resource)
	d.Related, d.Fixes = slices.Clone(d.Related), slices.Clone(d.Fixes)
	for i := range d.Related {
		move(&d.Related[i].Span, d.Related[i].Resource)
	}
	for i := range d.Fixes {
		edits := slices.Clone(d.Fixes[i].Edits)
		for k := range edits {
			move(&edits[k].Span, edits[k].in)
		}
		d.Fixes[i].Edits = edits
	}
}
