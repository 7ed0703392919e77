//go:build servers

package conform_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/servers"
)

// TestServers is `make conform-servers`: docs/conformance.md says what real servers break, and docs/servers.md shows it.
func TestServers(t *testing.T) {
	var page strings.Builder
	page.WriteString(introduction)
	tested := make([]*columns, len(servers.Tables))
	t.Run("servers", func(t *testing.T) {
		for i, table := range servers.Tables {
			tested[i] = &columns{reports: map[string][]*conform.Report{}}
			for _, s := range table.Servers {
				tested[i].test(t, s)
			}
		}
	})
	if t.Failed() {
		return
	}
	for i, table := range servers.Tables {
		compareTable(t, table.Name, tested[i].broken.table(tested[i].names))
		page.WriteString(pageOf(tested[i].names, tested[i].reports))
	}
	if *update {
		if err := os.WriteFile("../docs/servers.md", []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// columns are those of a table.
type columns struct {
	names   []string
	broken  breaches
	mu      sync.Mutex
	reports map[string][]*conform.Report
}

// test adds what a server breaks over each transport.
func (c *columns) test(t *testing.T, s servers.Server) {
	version, err := s.Version("..")
	if err != nil {
		t.Fatal(err)
	}
	name := s.Name + " " + version
	c.names = append(c.names, name)
	for _, transport := range transports {
		t.Run(s.Name+", "+transport, func(t *testing.T) {
			t.Parallel()
			r, err := s.Start(t.Context(), "..", t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			report, err := conform.Run(t.Context(), r.Server, conform.Options{Node: r.Node, Change: r.Change}.Only(transport))
			if err != nil {
				t.Fatal(err)
			}
			for _, note := range report.Notes {
				t.Log(note)
			}
			c.broken.add(name, transport, report)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.reports[name] = append(c.reports[name], report)
		})
	}
}

// pageOf shows a breach of each clause that a server breaks.
func pageOf(names []string, reports map[string][]*conform.Report) string {
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "\n## %s\n", name)
		var shown []string
		for _, c := range all(reports[name]) {
			if c.Status != conform.Broken || slices.Contains(shown, c.Clause) {
				continue
			}
			shown = append(shown, c.Clause)
			only := &conform.Report{Clauses: []conform.Clause{c}}
			only.Clauses[0].Evidence = c.Evidence[:1]
			_, breach, _ := strings.Cut(string(only.Text()), "\n\n")
			breach, _, _ = strings.Cut(breach, "\n\n")
			fmt.Fprintf(&out, "\n```\n%s\n```\n", strings.TrimRight(breach, "\n"))
		}
	}
	return out.String()
}

// all returns the clauses of some reports, in an order that does not change from run to run.
func all(reports []*conform.Report) (clauses []conform.Clause) {
	for _, r := range reports {
		clauses = append(clauses, r.Clauses...)
	}
	slices.SortStableFunc(clauses, func(a, b conform.Clause) int {
		return strings.Compare(a.Clause+a.Transport+a.Type, b.Clause+b.Transport+b.Type)
	})
	return clauses
}

const introduction = `# What real servers break: the messages

For each clause that a server breaks in the [table](conformance.md#what-real-servers-break), this page shows a breach:
the transport, the type and the scenario, and the recorded events, shortened. ` + "`make conform-servers`" + ` builds the
servers, tests them, and writes the table and this page.
`
