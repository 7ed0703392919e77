package explain_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var update = flag.Bool("update", false, "write docs/rules")

const docs = "../../docs/rules"

// TestPages: docs/rules says what the rules say.
func TestPages(t *testing.T) {
	groups := slices.Concat(rules.Groups, rules.Meta, []*lint.Group{protocol.Rules()})
	want := map[string]string{"README.md": explain.Index(groups)}
	for _, g := range groups {
		for _, r := range g.Rules() {
			want[r.ID()+".md"] = explain.Page(r)
		}
	}
	if *update {
		write(t, want)
	}
	found := map[string]bool{}
	err := filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(docs, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		found[name] = true
		text, err := os.ReadFile(path)
		if diff := cmp.Diff(string(text), want[name]); diff != "" {
			t.Errorf("docs/rules/%s is not current: run `go test ./internal/explain -update`, or make update\n%s", name, diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if !found[name] {
			t.Errorf("docs/rules/%s is missing: run `go test ./internal/explain -update`, or make update", name)
		}
	}
}

// write replaces the folder, so that the page of a removed rule disappears.
func write(t *testing.T, pages map[string]string) {
	if err := os.RemoveAll(docs); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		path := filepath.Join(docs, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExamples: each rule about xDS has an example whose report shows a finding of the rule.
func TestExamples(t *testing.T) {
	for _, r := range rules.Builtin() {
		e, ok := explain.Of(r)
		if !ok || len(e.Good) == 0 || !strings.Contains(e.Report, "["+r.ID()+"]") {
			t.Errorf("%s: bad: %t, good: %t, report:\n%s", r.ID(), ok, len(e.Good) > 0, e.Report)
		}
	}
	if _, ok := explain.Of(&lint.Rule{Group: "none", Name: "such"}); ok {
		t.Error("an example of no rule")
	}
}

func TestShort(t *testing.T) {
	filler := strings.Repeat("  filler: 1\n", 20)
	e := explain.Example{
		Bad:    []explain.File{{Name: "bad.yaml", Text: "top:\n" + filler + "  items:\n  - name: a\n    kept: 1\n    value: wrong\n    after: 1\n" + filler}},
		Good:   []explain.File{{Name: "good.yaml", Text: "top:\n" + filler + "  items:\n  - name: a\n    kept: 1\n    value: right\n    after: 1\n" + filler}},
		Report: "error[a/b]: c\n  --> bad.yaml:25:4\n",
	}
	want := "top:\n  …\n  items:\n  - name: a\n    kept: 1\n    value: wrong\n    after: 1\n  …\n"
	got := e.Short()
	if diff := cmp.Diff(want, got.Bad[0].Text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(strings.Replace(want, "wrong", "right", 1), got.Good[0].Text); diff != "" {
		t.Error(diff)
	}
}
