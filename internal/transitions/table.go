package transitions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/xdslint/xdslint/lint"
)

// cell sums up several runs of one case in one mode.
type cell struct {
	runs, requests int
	failures       map[string]int
	symptoms       map[string]int // other than failures; in how many runs
	slowest        time.Duration
	applied        []time.Duration
}

func (c *cell) add(o Outcome) {
	c.runs++
	c.requests += o.Requests
	c.slowest = max(c.slowest, o.Slowest)
	c.applied = append(c.applied, o.Applied)
	if c.failures == nil {
		c.failures, c.symptoms = map[string]int{}, map[string]int{}
	}
	for kind, n := range o.Failures {
		c.failures[kind] += n
	}
	for _, s := range o.Symptoms() {
		if o.Failures[s] == 0 {
			c.symptoms[s]++
		}
	}
}

func (c *cell) failed() int {
	sum := 0
	for _, n := range c.failures {
		sum += n
	}
	return sum
}

// text formats a cell: "12 of 3,456 (503 NC)", and the number of runs in which something else was wrong.
func (c *cell) text() string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%s of %s", thousands(c.failed()), thousands(c.requests))
	if kinds := slices.Sorted(maps.Keys(c.failures)); len(kinds) > 0 {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	if c.failed() == 0 && c.symptoms["slow"] == 0 {
		text = "**0** of " + thousands(c.requests)
	}
	for _, s := range slices.Sorted(maps.Keys(c.symptoms)) {
		text += fmt.Sprintf("; %s in %d of %d runs", s, c.symptoms[s], c.runs)
	}
	return text
}

func (c *cell) slow() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%d ms", c.slowest.Milliseconds())
}

// time returns the median time until everything was applied.
func (c *cell) time() string {
	if c == nil {
		return ""
	}
	if c.symptoms["warming"] > 0 {
		return "more than 5 s"
	}
	slices.Sort(c.applied)
	return fmt.Sprintf("%d ms", c.applied[len(c.applied)/2].Milliseconds())
}

type row struct {
	name      string
	transport lint.Transport
}

// Table returns a table of the outcomes: a row for each case and transport, and one for all cases without unavoidable failures.
func Table(outcomes []Outcome) string {
	cells := map[row]map[bool]*cell{}
	total := map[bool]*cell{false: {}, true: {}}
	for _, o := range outcomes {
		if o.Err != nil {
			continue
		}
		key := row{o.Case.Name, o.Mode.Push.Transport}
		if cells[key] == nil {
			cells[key] = map[bool]*cell{}
		}
		if cells[key][o.Mode.Planned] == nil {
			cells[key][o.Mode.Planned] = &cell{}
		}
		cells[key][o.Mode.Planned].add(o)
		if len(o.Case.Unavoidable) == 0 {
			total[o.Mode.Planned].add(o)
		}
	}
	rows := slices.SortedFunc(maps.Keys(cells), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.name, b.name), -cmp.Compare(a.transport, b.transport))
	})
	var b strings.Builder
	b.WriteString("| transition | transport | failed, all at once | slowest | applied after | failed, planned | slowest | applied after |\n|---|---|---|---|---|---|---|---|\n")
	line := func(name, transport string, c map[bool]*cell) {
		fmt.Fprintf(&b, "| %s | %s |", name, transport)
		for _, planned := range []bool{false, true} {
			fmt.Fprintf(&b, " %s | %s | %s |", c[planned].text(), c[planned].slow(), c[planned].time())
		}
		b.WriteString("\n")
	}
	for _, r := range rows {
		line(r.name, string(r.transport), cells[r])
	}
	if total[false].runs+total[true].runs > 0 {
		fmt.Fprintf(&b, "| **all hitless ones** | | %s | %s | | %s | %s | |\n", total[false].text(), total[false].slow(), total[true].text(), total[true].slow())
	}
	return b.String()
}

// thousands formats 12345 as 12,345.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Verdict returns an error that names every planned run with a fault that its case does not allow, and every run that failed to start.
func Verdict(outcomes []Outcome) error {
	var errs []error
	for _, o := range outcomes {
		if o.Err != nil || o.Mode.Planned && !o.Case.Allows(o.Result) {
			errs = append(errs, errors.New(o.String()))
		}
	}
	return errors.Join(errs...)
}
