package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// TestManifests lints Kubernetes manifests: no rule reports the good ones, and each bad one has the report next to it.
func TestManifests(t *testing.T) {
	t.Chdir("../testdata/manifests")
	for _, pattern := range []string{"good/*.yaml", "bad/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) < 15 {
			t.Fatalf("%s: %v %v", pattern, paths, err)
		}
		for _, path := range paths {
			t.Run(path, func(t *testing.T) { manifest(t, filepath.ToSlash(path)) })
		}
	}
}

// A manifest without one of its lines may be invalid, but no rule panics.
func TestManifestsWithoutALine(t *testing.T) {
	paths, err := filepath.Glob("../testdata/manifests/*/*.yaml")
	if err != nil || len(paths) < 30 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		for i := range lines {
			less := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "")
			input, err := load.Texts(t.Context(), map[string][]byte{"object.yaml": []byte(less)}, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, failure := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()}).Failures {
				t.Errorf("%s without line %d: %v\n%s", path, i+1, failure, failure.Stack)
			}
		}
	}
}

func manifest(t *testing.T, path string) {
	input, err := load.Paths(t.Context(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()})
	for _, failure := range result.Failures {
		t.Errorf("%v\n%s", failure, failure.Stack)
	}
	fieldtest.Check(t, result.Diagnostics)
	var got strings.Builder
	if err := report.Text(&got, result, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(path, "good/") {
		if got.Len() > 0 {
			t.Errorf("it is not silent:\n%s", got.String())
		}
		return
	}
	golden := strings.TrimSuffix(path, ".yaml") + ".want"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" || got.Len() == 0 {
		t.Errorf("(-want +got; go test ./rules -update writes it)\n%s", diff)
	}
}
