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
	var broken breaches
	var names []string
	var mu sync.Mutex
	reports := map[string][]*conform.Report{}
	t.Run("servers", func(t *testing.T) {
		for _, s := range servers.All {
			version, err := s.Version("..")
			if err != nil {
				t.Fatal(err)
			}
			name := s.Name + " " + version
			names = append(names, name)
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
					broken.add(name, transport, report)
					mu.Lock()
					defer mu.Unlock()
					reports[name] = append(reports[name], report)
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	compareTable(t, "servers", broken.table(names))
	if *update {
		if err := os.WriteFile("../docs/servers.md", []byte(pageOf(names, reports)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// pageOf shows a breach of each clause that a server breaks.
func pageOf(names []string, reports map[string][]*conform.Report) string {
	var out strings.Builder
	out.WriteString(introduction)
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
