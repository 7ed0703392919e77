package diff_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/diff"
)

var update = flag.Bool("update", false, "rewrite the expected texts in testdata")

func TestText(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := map[string]string{}
			for _, f := range archive.Files {
				text[f.Name] = string(f.Data)
			}
			d := diff.Diff(one(t, text["old.yaml"]), one(t, text["new.yaml"]))
			var b strings.Builder
			if err := d.Text(&b); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(written(t, d), "do not show") {
				t.Errorf("a secret is shown:\n%s", written(t, d))
			}
			if *update {
				archive.Files[len(archive.Files)-1].Data = []byte(b.String())
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if b.String() != text["want"] {
				t.Errorf("got:\n%s\nwant:\n%s", b.String(), text["want"])
			}
		})
	}
}

// one reads a snapshot, of which all can be read.
func one(t *testing.T, text string) *graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{Stdin: strings.NewReader(text), StdinName: "in.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	if len(input.Snapshots) != 1 {
		t.Fatalf("%d snapshots", len(input.Snapshots))
	}
	for _, r := range input.Snapshots[0].Resources {
		for _, p := range r.Problems {
			if p.Kind != 0 || r.Kind != graph.File {
				t.Errorf("%s %s: %s", r.Kind, r.Name, p.Message)
			}
		}
	}
	return input.Snapshots[0]
}
