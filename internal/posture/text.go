package posture

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// Text writes a table for each filter chain with the reasons below it, then the holes and the policies.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	t := &teller{Builder: &b}
	for rest := r.Cells; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(c *Cell) bool { return c.Listener != rest[0].Listener || c.Chain != rest[0].Chain })
		if n < 0 {
			n = len(rest)
		}
		t.table(rest[:n])
		rest = rest[n:]
	}
	for _, why := range r.Unknown {
		t.line("Not known: %s.", why)
	}
	for i, h := range r.Holes {
		t.hole(i, h)
	}
	for _, p := range r.Policies {
		t.policy(p)
	}
	t.line("%s, %s%s", words.Count(len(r.Cells), "row"), words.Count(len(r.Holes), "hole"), r.judged())
	out := bufio.NewWriter(w)
	fmt.Fprint(out, words.Printable(b.String()))
	return out.Flush()
}

// judged sums the policies up.
func (r *Report) judged() string {
	if len(r.Policies) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %d required policies broken", r.Broken(), len(r.Policies))
}

type teller struct {
	*strings.Builder
	reasons []string // of the table
}

func (t *teller) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// kindsOf returns the kinds of the guards that a table has a column for.
func kindsOf(cells []*Cell) (kinds []string) {
	for _, c := range cells {
		for _, g := range c.Way.Guards {
			if !slices.Contains(kinds, g.Kind) {
				kinds = append(kinds, g.Kind)
			}
		}
	}
	return kinds
}

// table writes the cells of one filter chain.
func (t *teller) table(cells []*Cell) {
	t.reasons = nil
	first := cells[0]
	t.line("listener %s, filter chain %s", words.Name(first.Listener), words.Name(first.Chain))
	kinds := kindsOf(cells)
	w := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(slices.Concat([]string{"  host", "path"}, kinds, []string{"goes to"}), "\t"))
	host := ""
	for _, c := range cells {
		row := []string{"  ", c.label()}
		if domains := words.Few(c.Domains, 3); domains != host {
			host = domains
			row[0] += host
		}
		for _, kind := range kinds {
			row = append(row, t.states(c, kind))
		}
		fmt.Fprintln(w, strings.Join(append(row, c.Target), "\t"))
	}
	_ = w.Flush() // into a Builder
	for i, why := range t.reasons {
		t.line("  %d  %s", i+1, why)
	}
	t.line("")
}

// label is the paths of a cell, and what else distinguishes it.
func (c *Cell) label() string {
	label := c.Paths
	if c.Split {
		label += ", such as " + *c.Way.Sent.Path
	}
	if c.With != "" {
		label += ", with " + c.With
	}
	return label
}

// states writes the states of the guards of a kind, with the numbers of their reasons.
func (t *teller) states(c *Cell, kind string) string {
	var all []string
	for _, g := range c.Way.Guards {
		if g.Kind != kind {
			continue
		}
		text := string(g.State)
		switch {
		case g.Asks != "" && g.State == walk.Runs:
			text += " (" + g.Asks + ")"
		case g.Why != "":
			text += fmt.Sprintf(" %d", t.reason(g))
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}

// reason returns the number of a reason in the list below the table.
func (t *teller) reason(g walk.Guard) int {
	text := says(g)
	i := slices.Index(t.reasons, text)
	if i < 0 {
		i = len(t.reasons)
		t.reasons = append(t.reasons, text)
	}
	return i + 1
}

// place is FILE:LINE:COLUMN.
func place(at graph.At) string {
	if at.Place == nil {
		return "-"
	}
	return report.LocationOf(at.Resource().File, at.Span()).Place()
}

// says writes what a guard is, and what says so.
func says(g walk.Guard) string {
	text := GuardName(g) + ": " + g.Why
	if g.At.Place != nil {
		text = place(g.At) + ": " + text
	}
	return text
}

// GuardName is the name of a guard, or its kind.
func GuardName(g walk.Guard) string {
	if g.Name == "" {
		return g.Kind
	}
	return g.Name
}

// Title names the guards that a hole is past, and by what.
func (h *Hole) Title() string {
	names := make([]string, len(h.Lost))
	for i, g := range h.Lost {
		names[i] = g.Name
	}
	return fmt.Sprintf("past %s by %s", words.And(names), h.Trick)
}

// Says says what the upstream sees.
func (h *Hole) Says() string {
	switch {
	case h.Below:
		return fmt.Sprintf("what exempts shorter names also exempts %s, which goes to %s", *h.Way.Sent.Path, h.Cell.Target)
	case h.Same():
		return fmt.Sprintf("%s sees the same request as that for %s", h.Cell.Target, title(h.Cell.Way.Sent))
	}
	return fmt.Sprintf("%s sees %s, which it may take for %s", h.Cell.Target, h.Way.Path, h.Cell.Way.Path)
}

// hole writes a hole with its command.
func (t *teller) hole(i int, h *Hole) {
	t.line("Hole %d: %s", i+1, h.Title())
	t.line("  %s", h.Says())
	for _, g := range h.Lost {
		t.line("  %s", says(g))
	}
	if h.Further > 0 {
		t.line("  and %d more of the same cause", h.Further)
	}
	t.line("  %s\n", h.Way.Curl())
}

// title is a request in one line.
func title(q *walk.Request) string {
	text := q.Method + " " + *q.Authority + *q.Path
	for _, h := range q.Headers {
		text += ", " + h[0] + ": " + h[1]
	}
	return text
}

// policy writes whether a policy holds.
func (t *teller) policy(p *Policy) {
	at := report.LocationOf(p.File, p.Span).Place()
	switch {
	case p.Requests == 0:
		t.line("%s: %s: broken, since no upstream gets a request that the policy is about\n", at, p.Text)
		return
	case p.Holds():
		t.line("%s: %s: holds for %s\n", at, p.Text, words.Count(p.Requests, "request"))
		return
	}
	t.line("%s: %s: broken", at, p.Text)
	for _, b := range p.Breaches {
		t.line("  %s", title(b.Way.Sent))
		t.line("    %s", says(b.Why))
		t.line("    %s", b.Way.Curl())
	}
	if p.Further > 0 {
		t.line("  and %d more requests", p.Further)
	}
	t.line("")
}
