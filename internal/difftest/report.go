package difftest

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Report is the result of a run.
type Report struct {
	cases   []*Case
	groups  []*group // of disagreements, false rejects first, then by how many
	skipped []string // seeds that one of the two rejects
	seeds   int
}

// group holds the cases with the same disagreement. The first one is shrunk.
type group struct {
	outcome outcome
	message string
	cases   []*Case
	file    string // with the small case, if it was written
}

func newReport(cases []*Case, skipped []string, seeds int) *Report {
	r := &Report{cases: cases, skipped: skipped, seeds: seeds}
	known := map[[2]string]*group{}
	for _, c := range cases {
		o := c.outcome()
		if o != miss && o != falseReject {
			continue
		}
		key := [2]string{string(o), c.message}
		if known[key] == nil {
			known[key] = &group{outcome: o, message: c.message}
			r.groups = append(r.groups, known[key])
		}
		known[key].cases = append(known[key].cases, c)
	}
	slices.SortStableFunc(r.groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.outcome, b.outcome), cmp.Compare(len(b.cases), len(a.cases)))
	})
	return r
}

// tally counts outcomes.
type tally struct{ cases, rejects, found, accepts, falses, crashes int }

func (t *tally) add(c *Case) {
	t.cases++
	switch c.outcome() {
	case bothReject:
		t.rejects++
		t.found++
	case miss:
		t.rejects++
	case bothAccept:
		t.accepts++
	case falseReject:
		t.accepts++
		t.falses++
	case crashed:
		t.crashes++
	}
}

func percent(part, of, ofNone int) float64 {
	if of == 0 {
		return float64(ofNone)
	}
	return 100 * float64(part) / float64(of)
}

func (t *tally) recall() float64     { return percent(t.found, t.rejects, 100) }
func (t *tally) falseShare() float64 { return percent(t.falses, t.accepts, 0) }

func (r *Report) total() (t tally) {
	for _, c := range r.cases {
		t.add(c)
	}
	return t
}

// Recall returns the share of what Envoy rejects that xdslint rejects too, in percent.
func (r *Report) Recall() float64 { t := r.total(); return t.recall() }

// FalseShare returns the share of what Envoy accepts that xdslint rejects, in percent.
func (r *Report) FalseShare() float64 { t := r.total(); return t.falseShare() }

// Print writes the tables and lists.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%d seeds", r.seeds)
	if len(r.skipped) > 0 {
		fmt.Fprintf(w, "; not used, as one of the two rejects them:\n  %s", strings.Join(r.skipped, "\n  "))
	}
	fmt.Fprintln(w)
	var kinds, names []string
	for _, k := range Kinds {
		kinds = append(kinds, string(k))
	}
	for _, m := range mutations {
		names = append(names, m.name)
	}
	r.table(w, "kind", kinds, func(c *Case) []string { return []string{string(c.Kind)} })
	r.table(w, "mutation", names, func(c *Case) []string { return slices.Compact(slices.Sorted(slices.Values(c.Mutations))) })
	t := r.total()
	t.row(w, "all cases")
	r.printGroups(w, falseReject, "False rejects: Envoy accepts, xdslint says")
	r.printGroups(w, miss, "Misses: xdslint accepts, Envoy says")
	r.printCrashes(w)
}

// table has a row for each class of cases. A case of two mutations counts in both.
func (r *Report) table(w io.Writer, head string, classes []string, of func(*Case) []string) {
	rows := map[string]*tally{}
	for _, class := range classes {
		rows[class] = &tally{}
	}
	for _, c := range r.cases {
		for _, class := range of(c) {
			rows[class].add(c)
		}
	}
	fmt.Fprintf(w, "\n%-16s %6s %8s %6s %8s %8s %6s %8s %8s\n", head, "cases", "rejects", "found", "recall", "accepts", "false", "share", "crashes")
	for _, class := range classes {
		rows[class].row(w, class)
	}
}

func (t *tally) row(w io.Writer, name string) {
	fmt.Fprintf(w, "%-16s %6d %8d %6d %7.1f%% %8d %6d %7.2f%% %8d\n",
		name, t.cases, t.rejects, t.found, t.recall(), t.accepts, t.falses, t.falseShare(), t.crashes)
}

func (r *Report) printGroups(w io.Writer, of outcome, head string) {
	for _, g := range r.groups {
		if g.outcome != of {
			continue
		}
		if head != "" {
			fmt.Fprintf(w, "\n%s:\n", head)
			head = ""
		}
		fmt.Fprintf(w, "%4d  %s\n", len(g.cases), g.message)
		if g.file != "" {
			fmt.Fprintf(w, "      %s\n", g.file)
		}
	}
}

// printCrashes lists crashes of Envoy: they say nothing about agreement, but should be reported.
func (r *Report) printCrashes(w io.Writer) {
	head := "\nCrashes and timeouts of Envoy, which count as neither:\n"
	for _, c := range r.cases {
		if c.outcome() != crashed {
			continue
		}
		says := "xdslint accepts"
		if len(c.Reasons) > 0 {
			says = "xdslint rejects: " + c.Reasons[0].Rule
		}
		fmt.Fprintf(w, "%s%s: %s %s; %s\n", head, c, c.Envoy.Outcome, strings.TrimSpace(lastWords.FindString(c.Envoy.Message)), says)
		head = ""
	}
}

// lastWords returns what Envoy logs before it crashes, if anything.
var lastWords = regexp.MustCompile(`\[[\w./]+:\d+\] (panic|assert failure): [^\[]*`)
