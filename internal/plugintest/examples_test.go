package plugintest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/plugintest"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// modules are the examples of plugins, and how a test gets each.
var modules = map[string]struct {
	folder string
	module func(*testing.T) []byte
}{
	"go":              {"plugin-go", func(t *testing.T) []byte { return plugintest.Go(t, "plugin-go") }},
	"rust":            {"plugin-rust", func(t *testing.T) []byte { return plugintest.Rust(t, "plugin-rust", "rules") }},
	"rust checked in": {"plugin-rust", func(t *testing.T) []byte { return checkedIn(t, "plugin-rust") }},
}

func checkedIn(t *testing.T, folder string) []byte {
	t.Helper()
	module, err := os.ReadFile(filepath.Join(folder, "rules.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestPlugins: each example passes its archives, and finds among 1,000 clusters what the same rule as a constraint finds.
func TestPlugins(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "examples"))
	snapshots := thousand(t)
	want := found(t, snapshots, constraint(t))
	if len(want) != 600 {
		t.Fatalf("the constraint finds %d clusters, not 600", len(want))
	}
	for name, example := range modules {
		t.Run(name, func(t *testing.T) {
			file := &source.File{Name: filepath.Join(example.folder, "rules.wasm"), Text: example.module(t)}
			p, err := plugin.Open(t.Context(), file, plugin.Options{Cache: plugintest.Compiled(t, file.Text)})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			result, err := ruletest.Run(t.Context(), p.Rules(), ruletest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range result.Faults {
				t.Errorf("%s: %s\n%s", fault.Path, fault.Message, fault.Diff)
			}
			if len(result.Untested) > 0 {
				t.Errorf("without an archive: %s", result.Untested[0].ID())
			}
			i := slices.IndexFunc(p.Rules(), func(r *lint.Rule) bool { return r.ID() == "acme/cluster-name" })
			if diff := cmp.Diff(want, found(t, snapshots, p.Rules()[i])); diff != "" {
				t.Errorf("not what the constraint finds:\n%s", diff)
			}
		})
	}
}

// constraint is the rule of both examples, in a line of CEL.
func constraint(t *testing.T) *lint.Rule {
	t.Helper()
	file := &source.File{Name: config.FileName, Text: []byte(`
constraints:
- id: acme/cluster-name
  message: envoy.config.cluster.v3.Cluster
  field: name
  expression: this.matches('^[a-z]+-[a-z]+$')
  text: cluster names are team-service
  severity: warning
`)}
	s, err := config.Parse(file, nil, custom.Constraints(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.Custom[0]
}

// thousand are clusters, of which every fifth has no name and every fifth a good one.
func thousand(t *testing.T) []*graph.Snapshot {
	t.Helper()
	forms := []string{"name: orders-api", "connect_timeout: 1s", "name: orders_api%d", "name: Orders-API%d", "name: orders-api-%d"}
	var b strings.Builder
	b.WriteString("static_resources:\n  clusters:\n")
	for i := range 1000 {
		form := forms[i%len(forms)]
		if strings.Contains(form, "%d") {
			form = fmt.Sprintf(form, i)
		}
		b.WriteString("  - " + form + "\n")
	}
	input, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte(b.String())}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return input.Snapshots
}

// finding is what rules in different languages must have alike.
type finding struct {
	Rule, Path, Message, Help string
	Severity                  lint.Severity
	Span                      source.Span
	Notes                     []string
}

func found(t *testing.T, snapshots []*graph.Snapshot, rule *lint.Rule) (all []finding) {
	t.Helper()
	result := lint.Run(t.Context(), snapshots, lint.Config{Rules: []*lint.Rule{rule}})
	for _, f := range result.Failures {
		t.Error(f)
	}
	for _, d := range result.Diagnostics {
		all = append(all, finding{d.Rule.ID(), d.Path.String(), d.Message, d.Help, d.Severity, d.Span, d.Notes})
	}
	return all
}
