package diff_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/diff"
	"github.com/xdslint/xdslint/internal/explain"
)

// examples are the snapshots of all that lies in testdata.
func examples(t testing.TB) []*graph.Snapshot {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"snapshots/*", "transitions/*/old", "transitions/*/new"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	archives, err := filepath.Glob("../../testdata/rules/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range archives {
		if !testing.Short() || i%5 == 0 {
			paths = append(paths, unpacked(t, path)...)
		}
	}
	var all []*graph.Snapshot
	for _, path := range paths {
		input, err := load.Paths(t.Context(), []string{path}, load.Options{})
		if err == nil { // an example whose point is that it cannot be read
			all = append(all, input.Snapshots...)
		}
	}
	return all
}

// unpacked writes an archive's examples into a folder.
func unpacked(t testing.TB, archive string) (paths []string) {
	t.Helper()
	text, err := explain.ReadArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range text.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(f.Name, "/")
		if path := filepath.Join(dir, top); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func written(t testing.TB, d *diff.Difference) string {
	t.Helper()
	var b strings.Builder
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + string(j)
}

// TestAnyTwo: a snapshot does not differ from itself. Every difference can be written as text, and always as the same text.
func TestAnyTwo(t *testing.T) {
	all := examples(t)
	const apart = 397
	for i, s := range all {
		if d := diff.Diff(s, s); len(d.Changes)+len(d.Unreached)+len(d.Unknown)+len(d.Shadowed) > 0 {
			t.Errorf("%s differs from itself:\n%s", s.Resources[0].File.Name, written(t, d))
		}
		for j := i % 7; j < len(all); j += apart {
			text := written(t, diff.Diff(s, all[j]))
			if again := written(t, diff.Diff(s, all[j])); again != text {
				t.Errorf("%s and %s: not the same twice:\n%s\n%s", s.Resources[0].File.Name, all[j].Resources[0].File.Name, text, again)
			}
			if back := diff.Diff(all[j], s); (len(back.Changes) == 0) != (len(diff.Diff(s, all[j]).Changes) == 0) {
				t.Errorf("%s and %s differ only one way", s.Resources[0].File.Name, all[j].Resources[0].File.Name)
			}
		}
	}
}

func FuzzDiff(f *testing.F) {
	for _, path := range []string{"storefront/lds.yaml", "storefront/rds.yaml", "storefront/cds.yaml", "storefront/eds.yaml", "clean/bootstrap.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/snapshots", path))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), strings.ReplaceAll(string(text), "a", "e"))
	}
	f.Fuzz(func(t *testing.T, old, now string) {
		read := func(text string) *graph.Snapshot {
			input, err := load.Paths(t.Context(), []string{"-"}, load.Options{Stdin: strings.NewReader(text), StdinName: "in.yaml"})
			if err != nil || len(input.Snapshots) == 0 {
				return nil
			}
			return input.Snapshots[0]
		}
		a, b := read(old), read(now)
		if a == nil || b == nil {
			return
		}
		written(t, diff.Diff(a, b))
		if d := diff.Diff(a, a); len(d.Changes)+len(d.Unreached)+len(d.Unknown)+len(d.Shadowed) > 0 {
			t.Errorf("differs from itself: %s", written(t, d))
		}
	})
}
