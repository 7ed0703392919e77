package plan_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

var update = flag.Bool("update", false, "write what is planned now into the archives")

// TestMake compares plans with those in testdata/*.txtar: old.yaml, new.yaml, flags ("transport ads-delta", "repoint", "grpc", one a line) and
// the text of the plan under want.
func TestMake(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before, after, opts := read(t, archive)
			made := plan.Make(graph.Diff(before, after), opts)
			checkStates(t, before, after, made, opts)
			var text strings.Builder
			outcome := &plan.Outcome{Hazards: &lint.Result{Snapshots: []*graph.Snapshot{before, after}}, Plan: made, Remaining: made.Remaining(t.Context(), target(opts))}
			if err := outcome.Text(&text, false); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(text.String(), "\n\n")
			want := &archive.Files[len(archive.Files)-1]
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("the plan differs (go test ./plan -update writes it):\n%s", diff)
			}
		})
	}
}

func target(opts plan.Options) dataplane.Target {
	if opts.Family == dataplane.GRPC {
		return dataplane.Target{Plane: "grpc-go", Version: "1.85"}
	}
	return dataplane.Default()
}

func read(t *testing.T, archive *txtar.Archive) (before, after *graph.Snapshot, opts plan.Options) {
	t.Helper()
	for _, f := range archive.Files {
		switch f.Name {
		case "old.yaml":
			before = snapshot(t, f.Name, f.Data)
		case "new.yaml":
			after = snapshot(t, f.Name, f.Data)
		case "flags":
			for line := range strings.Lines(string(f.Data)) {
				switch word, value, _ := strings.Cut(strings.TrimSpace(line), " "); word {
				case "transport":
					opts.Push.Transport = lint.Transport(value)
				case "repoint":
					opts.Repoint = true
				case "grpc":
					opts.Family = dataplane.GRPC
				default:
					t.Fatalf("unknown flag %q", line)
				}
			}
		}
	}
	return before, after, opts
}

func snapshot(t *testing.T, name string, text []byte) *graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{Stdin: bytes.NewReader(text), StdinName: name})
	if err != nil {
		t.Fatal(err)
	}
	if len(input.Snapshots) == 0 { // nothing in it
		empty := &graph.Snapshot{}
		empty.Build()
		return empty
	}
	if len(input.Snapshots) != 1 {
		t.Fatal(fmt.Sprint(len(input.Snapshots), " snapshots"))
	}
	return input.Snapshots[0]
}
