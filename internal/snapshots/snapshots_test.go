// Package snapshots tests the whole of xdslint on the example snapshots of testdata/snapshots, and on hostile input.
package snapshots

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var update = flag.Bool("update", false, "rewrite the expected findings, and the forms of the storefront snapshot")

const (
	clean      = "testdata/snapshots/clean"
	storefront = "testdata/snapshots/storefront"
)

// top goes to the top of the module: names in findings are as the README's commands give them.
func top(t *testing.T) {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
}

// check lints paths as the command does.
func check(t *testing.T, paths ...string) *lint.Result {
	t.Helper()
	input, err := load.Paths(t.Context(), paths, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()})
	for _, f := range result.Failures {
		t.Errorf("%v\n%s", f, f.Stack)
	}
	fieldtest.Check(t, result.Diagnostics)
	return result
}

// lines are the findings, a line each.
func lines(t *testing.T, result *lint.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Concise(&b, &report.Report{Result: result}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-update writes it):\n%s", path, diff)
	}
}

// TestStorefront: in a run on the whole folder, a file that the bootstrap names is not judged again as a loose
// resource.
func TestStorefront(t *testing.T) {
	top(t)
	result := check(t, storefront)
	golden(t, storefront+".want", lines(t, result))
	if len(result.Snapshots) != 1 {
		t.Errorf("%d snapshots", len(result.Snapshots))
	}
	alone := check(t, storefront+"/bootstrap.yaml")
	if diff := cmp.Diff(lines(t, result), lines(t, alone)); diff != "" {
		t.Errorf("the bootstrap alone gives other findings than its folder:\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	top(t)
	if got := lines(t, check(t, clean)); got != "" {
		t.Errorf("not silent:\n%s", got)
	}
}

// finding is what does not depend on the form of the input.
type finding struct {
	Severity lint.Severity
	lint.Key
	Message string
}

func findings(result *lint.Result) []finding {
	var all []finding
	for i := range result.Diagnostics {
		d := &result.Diagnostics[i]
		all = append(all, finding{d.Severity, d.Key(), d.Message})
	}
	slices.SortFunc(all, func(a, b finding) int { return bytes.Compare(a.bytes(), b.bytes()) })
	return all
}

func (f finding) bytes() []byte {
	return []byte(f.Rule + "\x00" + string(f.Kind) + "\x00" + f.Name + "\x00" + f.Field + "\x00" + f.Message)
}
