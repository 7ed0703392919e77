package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// TestCases plans the transitions that internal/transitions pushes to a real Envoy: there and back, for every transport.
func TestCases(t *testing.T) {
	cases, err := os.ReadDir("../testdata/transitions")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		dir := filepath.Join("../testdata/transitions", c.Name())
		for _, transport := range lint.Transports {
			for _, repoint := range []bool{false, true} {
				before, after := folder(t, filepath.Join(dir, "old")), folder(t, filepath.Join(dir, "new"))
				opts := plan.Options{Push: lint.Push{Transport: transport}, Repoint: repoint}
				t.Run(c.Name()+"/"+string(transport), func(t *testing.T) {
					made := plan.Make(graph.Diff(before, after), opts)
					if len(made.Phases) == 0 {
						t.Error("there is no plan")
					}
					checkStates(t, before, after, made, opts)
					checkStates(t, after, before, plan.Make(graph.Diff(after, before), opts), opts)
				})
			}
		}
	}
}

func folder(t *testing.T, path string) *graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(input.Snapshots) != 1 {
		t.Fatalf("%s makes %d snapshots", path, len(input.Snapshots))
	}
	return input.Snapshots[0]
}
