package transitions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
)

// example is a push in a rule's archive, with what its author says that Envoy shows of it.
type example struct {
	*Case
	push           lint.Push
	naive, planned []string // words of Symptoms and of Notes; none: empty
}

// TestArchives lets the real Envoy show what the examples of the transition rules claim: bad ones pushed at once and planned, good ones
// pushed at once.
func TestArchives(t *testing.T) {
	envoytest.Need(t)
	var jobs []Job
	var want [][]string
	of := examples(t)
	if testing.Short() {
		of = slices.DeleteFunc(of, func(e *example) bool { return !strings.HasSuffix(e.Name, "/bad") })
	}
	for i, e := range of {
		if skipped(i, e.Name) {
			continue
		}
		mode := Mode{Push: e.push, RTT: FarRTT, Rate: SmallRate}
		jobs, want = append(jobs, Job{Case: e.Case, Mode: mode}), append(want, e.naive)
		if strings.Contains(e.Name, "/bad") {
			mode.Planned = true
			jobs, want = append(jobs, Job{Case: e.Case, Mode: mode}), append(want, e.planned)
		}
	}
	for i, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(o.Case.Name+"/"+o.Mode.name(), func(t *testing.T) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			t.Log(o.Result)
			if !shows(o.Result, want[i]) {
				t.Errorf("the archive says %s, Envoy shows %s", words(want[i]), words(append(o.Symptoms(), o.Notes()...)))
			}
		})
	}
}

// shows reports whether a result is what was expected. Harmless symptoms that are expected must occur. Others may occur, and so may one with
// a question mark.
func shows(r *Result, want []string) bool {
	var harm []string
	for _, w := range want {
		if seldom, ok := strings.CutSuffix(w, "?"); ok {
			if !slices.Contains(r.Symptoms(), seldom) {
				continue
			}
			w = seldom
		}
		if w != "drain" && w != "rebuilt" {
			harm = append(harm, w)
		} else if !slices.Contains(r.Notes(), w) {
			return false
		}
	}
	got := r.Symptoms()
	if slices.Contains(harm, "refused") { // what waits to be accepted when the socket goes is reset
		got = slices.DeleteFunc(got, func(s string) bool { return s == "reset" })
	}
	slices.Sort(harm)
	slices.Sort(got)
	return slices.Equal(got, harm)
}

func words(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func examples(t *testing.T) []*example {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/rules/transition/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no archives", err)
	}
	var all []*example
	for _, path := range paths {
		all = append(all, readArchive(t, path)...)
	}
	return all
}

func readArchive(t *testing.T, path string) []*example {
	t.Helper()
	archive, err := explain.ReadArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	rule := strings.TrimSuffix(filepath.Base(path), ".txtar")
	var all []*example
	for name, claim := range pairs(archive, "envoy") {
		e := &example{Case: &Case{Name: rule + "/" + name}, push: pushOf(t, archive, name)}
		// Where there are health checks, they matter; on this machine they would pass at once.
		e.SlowHealthCheck = 800 * time.Millisecond
		e.Old, e.New = readSide(t, filepath.Join(dir, name, "old")), readSide(t, filepath.Join(dir, name, "new"))
		naive, planned, _ := strings.Cut(claim, ";")
		e.naive, e.planned = symptoms(naive), symptoms(strings.TrimPrefix(strings.TrimSpace(planned), "planned:"))
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *example) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func readSide(t *testing.T, path string) *graph.Snapshot {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		path += ".yaml"
	}
	s, err := Half(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pushOf is how an archive says that an example is pushed.
func pushOf(t *testing.T, archive *txtar.Archive, example string) lint.Push {
	t.Helper()
	words := strings.Fields(strings.TrimPrefix(pairs(archive, "flags")[example], "push"))
	push, err := lint.ParsePush(strings.Join(words[:min(1, len(words))], ""), strings.Join(words[min(1, len(words)):], ""))
	if err != nil {
		t.Fatal(err)
	}
	return push
}

// pairs reads the lines "EXAMPLE: TEXT" of an archive's file.
func pairs(archive *txtar.Archive, file string) map[string]string {
	all := map[string]string{}
	for _, f := range archive.Files {
		if f.Name != file {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			if example, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				all[example] = text
			}
		}
	}
	return all
}

// symptoms reads "503 NC, warming"; none is none.
func symptoms(text string) []string {
	var all []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" && word != "none" {
			all = append(all, word)
		}
	}
	return all
}
