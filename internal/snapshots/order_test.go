package snapshots

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/explain"
)

// TestOrder: the order of files on the command line does not matter, and two runs print the same bytes.
func TestOrder(t *testing.T) {
	paths := examples(t)
	rapid.Check(t, func(r *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 1, 8, rapid.ID).Draw(r, "files")
		other := rapid.Permutation(some).Draw(r, "order")
		want := lines(t, check(t, some...))
		if diff := cmp.Diff(want, lines(t, check(t, other...))); diff != "" {
			r.Errorf("another order of %q gives other findings:\n%s", some, diff)
		}
		first, second := reports(t, check(t, some...)), reports(t, check(t, some...))
		for format := range first {
			if !bytes.Equal(first[format], second[format]) {
				r.Errorf("two runs differ as %s:\n%s", format, cmp.Diff(string(first[format]), string(second[format])))
			}
		}
	})
}

// examples writes files of all kinds: the snapshots, and the bad examples of the rules.
func examples(t *testing.T) []string {
	t.Helper()
	top(t)
	paths, err := filepath.Glob("testdata/snapshots/*/*")
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob("testdata/rules/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, path := range archives {
		archive, err := explain.ReadArchive(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range archive.Files {
			if strings.HasPrefix(file.Name, "bad") {
				to := filepath.Join(dir, fmt.Sprintf("%s-%d%s", filepath.Base(path), i, filepath.Ext(file.Name)))
				if err := os.WriteFile(to, file.Data, 0o600); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, to)
			}
		}
	}
	return paths
}
