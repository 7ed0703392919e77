package baseline

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

var rule = (&lint.Group{Name: "test"}).Add(&lint.Rule{Name: "rule", Severity: lint.Error, Run: lint.ForSnapshot(func(*lint.Pass) {})})

// found makes findings in the fields of one resource, whose name needs escapes.
func found(fields ...string) *lint.Result {
	r := &graph.Resource{Kind: graph.Cluster, Name: "<\"é\">", File: &source.File{Name: "x.yaml"}}
	result := &lint.Result{}
	for _, f := range fields {
		result.Diagnostics = append(result.Diagnostics, lint.Diagnostic{
			Rule: rule, Severity: lint.Error, Message: f, Resource: r, Path: (*tree.Path)(nil).Field(f),
		})
	}
	return result
}

func messages(result *lint.Result) (all []string) {
	for _, d := range result.Diagnostics {
		all = append(all, d.Message)
	}
	return all
}

// reread writes a baseline to a file and reads it.
func reread(t *testing.T, b *Baseline) *Baseline {
	t.Helper()
	var text bytes.Buffer
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Read(name, FileName)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestCounts(t *testing.T) {
	b := reread(t, Of(found("a", "b", "a", "a").Diagnostics, []string{"x.yaml"}))
	if b.Size() != 4 || len(b.Entries) != 2 || !slices.Equal(b.Paths, []string{"x.yaml"}) {
		t.Fatalf("%+v", b)
	}
	more := found("a", "a", "a", "a", "b")
	if hidden := b.Apply(more, true); hidden != 4 || !slices.Equal(messages(more), []string{"a"}) {
		t.Errorf("of four equal findings, three are known: hidden %d, left %v", hidden, messages(more))
	}
	fewer := found("a")
	b.Apply(fewer, true)
	want := []string{
		`test/rule occurs 2 times less often in cluster "<\"é\">" › a`,
		`test/rule no longer occurs in cluster "<\"é\">" › b`,
	}
	if got := messages(fewer); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, d := range fewer.Diagnostics {
		if d.Span.IsZero() {
			t.Errorf("%s has no place", d.Message)
		}
	}
	part := found("a")
	if b.Apply(part, false); len(part.Diagnostics) != 0 {
		t.Errorf("a run over a part says nothing of the rest: %v", messages(part))
	}
	if pruned := b.Prune(found("a").Diagnostics); pruned != 3 || b.Size() != 1 {
		t.Errorf("pruned %d, left %d", pruned, b.Size())
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                "EOF",
		"[]":              "cannot unmarshal",
		`{"version": 2}`:  "unknown version 2",
		`{"finding": []}`: `unknown field "finding"`,
	} {
		name := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(name, "b.json"); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "b.json: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
