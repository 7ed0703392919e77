package conform

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// shown is how many characters of a recorded event are printed.
const shown = 300

// Text returns a table of the clauses, and then the breaches with the events that show them.
func (r *Report) Text() []byte {
	var out bytes.Buffer
	r.table(&out)
	counts := map[Status]int{}
	for _, c := range r.Clauses {
		counts[c.Status]++
		for _, e := range c.Evidence {
			fmt.Fprintf(&out, "\n%s (%s), %s, %s, %s: %s\n", c.Clause, c.Level, c.Transport, kindOf(c.Type), e.Scenario, e.Message)
			for _, event := range e.Recorded {
				fmt.Fprintf(&out, "    %s\n", shortened(string(event)))
			}
		}
	}
	fmt.Fprintf(&out, "\n%d kept, %d broken, %d unseen\n", counts[Kept], counts[Broken], counts[Unseen])
	return out.Bytes()
}

// table has a row for each clause and transport, and a column for each type.
func (r *Report) table(out *bytes.Buffer) {
	var types []string
	cells := map[[2]string]map[string]Status{}
	var rows [][2]string
	for _, c := range r.Clauses {
		if !slices.Contains(types, c.Type) {
			types = append(types, c.Type)
		}
		row := [2]string{fmt.Sprintf("%s (%s)", c.Clause, c.Level), c.Transport}
		if cells[row] == nil {
			cells[row] = map[string]Status{}
			rows = append(rows, row)
		}
		cells[row][c.Type] = c.Status
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	header := []string{"clause", "transport"}
	for _, t := range types {
		header = append(header, kindOf(t))
	}
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, row := range rows {
		line := row[:]
		for _, t := range types {
			line = append(line, string(cells[row][t]))
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // a buffer takes everything
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > shown {
		return string(runes[:shown]) + "…"
	}
	return text
}
