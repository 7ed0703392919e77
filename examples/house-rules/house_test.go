package houserules_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/house"
	"github.com/xdslint/xdslint/house/archive"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/settings"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/rules/explain"
)

var update = flag.Bool("update", false, "write what the rules now report into the archives")

// houseRules are the rules of the configuration here.
func houseRules(t *testing.T) []*lint.Rule {
	t.Helper()
	s, err := settings.Read(settings.FileName, settings.FileName, rules.Known(), house.Constraints(rules.Known(), nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.House) != 12 {
		t.Errorf("there are %d rules; README.md speaks of twelve", len(s.House))
	}
	return s.House
}

func TestArchives(t *testing.T) {
	result, err := archive.Run(t.Context(), houseRules(t), archive.Options{Update: *update})
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

// TestAccepted holds that the rules are a team's own business: Envoy takes all examples, and the built-in rules have nothing to say about them.
func TestAccepted(t *testing.T) {
	envoytest.Need(t)
	records, err := envoytest.OpenRecords("../../testdata/verdicts/house-rules.txt", *update)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // when all have been asked
		if err := records.Write(); err != nil {
			t.Error(err)
		}
	})
	for _, r := range houseRules(t) {
		text, err := txtar.ParseFile(filepath.Join(archive.Folder, filepath.FromSlash(r.ID())+".txtar"))
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
	for _, d := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.All()}).Diagnostics {
		t.Errorf("%s: %s", d.Rule.ID(), d.Message)
	}
}

// TestReadme holds the table to the configuration: what it says of whose rules these are cannot be read from there.
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
	for _, r := range houseRules(t) {
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
		t.Errorf("%s is in the table, and no rule", id)
	}
}
