package customrules_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var update = flag.Bool("update", false, "write the current findings into the archives")

// customRules are the rules of the configuration here.
func customRules(t *testing.T) []*lint.Rule {
	t.Helper()
	s, err := config.Read(config.FileName, config.FileName, rules.All(), custom.Constraints(rules.All(), nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Custom) != 10 {
		t.Errorf("there are %d rules; README.md speaks of ten", len(s.Custom))
	}
	return s.Custom
}

func TestArchives(t *testing.T) {
	result, err := ruletest.Run(t.Context(), customRules(t), ruletest.Options{Update: *update})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range result.Faults {
		t.Errorf("%s: %s\n%s", fault.Path, fault.Message, fault.Diff)
	}
	for _, r := range result.Untested {
		t.Errorf("%s has no archive", r.ID())
	}
}

// TestAccepted: Envoy accepts all examples, and the built-in rules find no more than an info in them.
func TestAccepted(t *testing.T) {
	envoytest.Need(t)
	records, err := envoytest.OpenRecords("../../testdata/verdicts/custom-rules.txt", *update)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // when all have been asked
		if err := records.Write(); err != nil {
			t.Error(err)
		}
	})
	for _, r := range customRules(t) {
		text, err := txtar.ParseFile(filepath.Join(ruletest.Folder, filepath.FromSlash(r.ID())+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		samples, err := explain.SamplesOf(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			t.Run(r.ID()+"/"+s.Name, func(t *testing.T) {
				t.Parallel()
				accepted(t, records, r.ID()+"/"+s.Name, s)
			})
		}
	}
}

func accepted(t *testing.T, records *envoytest.Records, about string, s explain.Sample) {
	dir := t.TempDir()
	var paths []string
	texts := map[string]string{}
	for _, f := range s.Files {
		texts[f.Name] = f.Whole()
		path := filepath.Join(dir, filepath.Base(f.Name))
		if err := os.WriteFile(path, []byte(f.Whole()), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	i := slices.IndexFunc(s.Files, func(f explain.File) bool { return strings.Contains(f.Text, "static_resources:") })
	if i < 0 {
		t.Fatal("it has no bootstrap")
	}
	q := envoytest.Question{About: about, Way: "validate", Digest: envoytest.Digest(texts)}
	switch verdict, err := records.Ask(envoytest.Newest, q, func() (envoytest.Verdict, error) { return envoytest.Validate(t.Context(), paths[i]) }); {
	case err != nil:
		t.Fatal(err)
	case verdict.Outcome != envoytest.Accept:
		t.Errorf("Envoy: %s", verdict)
	}
	input, err := load.Paths(t.Context(), paths, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()}).Diagnostics {
		if d.Severity > lint.Info {
			t.Errorf("%s: %s", d.Rule.ID(), d.Message)
		}
	}
}

// TestReadme: the table has all rules and their links.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // by id
	for line := range strings.Lines(string(text)) {
		if id, ok := strings.CutPrefix(line, "| `"); ok {
			id, row, _ := strings.Cut(id, "`")
			rows[id] = row
		}
	}
	for _, r := range customRules(t) {
		row, ok := rows[r.ID()]
		if !ok {
			t.Errorf("%s is not in the table", r.ID())
		}
		for _, link := range r.Links {
			if !strings.Contains(row, "("+link+")") {
				t.Errorf("%s: the table does not have %s", r.ID(), link)
			}
		}
		delete(rows, r.ID())
	}
	for id := range rows {
		t.Errorf("%s is in the table, but is not a rule", id)
	}
}
