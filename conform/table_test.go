package conform_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/protocol"
)

var update = flag.Bool("update", false, "write the tables in docs/conformance.md, and docs/servers.md")

// breaches are the clauses that servers break.
type breaches struct {
	mu  sync.Mutex
	all map[cell][]string // transports
}

type cell struct{ clause, server string }

func (b *breaches) add(server, transport string, r *conform.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[cell][]string{}
	}
	for _, c := range r.Clauses {
		at := cell{c.Clause, server}
		if c.Status == conform.Broken && !slices.Contains(b.all[at], transport) {
			b.all[at] = append(b.all[at], transport)
		}
	}
}

// table returns them in Markdown, with a column for each server.
func (b *breaches) table(servers []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "| clause | level | %s |\n|---|---|%s\n", strings.Join(servers, " | "), strings.Repeat("---|", len(servers)))
	for _, clause := range protocol.Clauses() {
		row, found := fmt.Sprintf("| `%s` | %s |", clause.Name, clause.Level), false
		for _, server := range servers {
			transports := b.all[cell{clause.Rule.ID(), server}]
			slices.Sort(transports)
			row += " " + strings.Join(transports, ", ") + " |"
			found = found || len(transports) > 0
		}
		if found {
			fmt.Fprintln(&out, row)
		}
	}
	return out.String()
}

// compareTable compares a table with the one in docs/conformance.md.
func compareTable(t *testing.T, name, got string) {
	t.Helper()
	const path, end = "../docs/conformance.md", "<!-- end -->"
	begin := "<!-- " + name + " -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	want, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("docs/conformance.md has no table %s", name)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(before+begin+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/conformance.md (run with -update if that is meant):\n%s", diff)
	}
}
