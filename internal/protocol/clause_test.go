package protocol_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/protocol"
)

var update = flag.Bool("update", false, "write what is found into the archives")

const folder = "../../testdata/protocol"

// TestClauses: for each clause there is a recording that breaks it, and one that keeps it. In the first, nothing else is
// found; in the second, nothing at all.
func TestClauses(t *testing.T) {
	there := map[string]bool{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		there[strings.TrimSuffix(filepath.Base(path), ".txtar")] = true
	}
	for _, c := range protocol.Clauses() {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join(folder, c.Name+".txtar")
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{}
			for _, f := range archive.Files {
				files[f.Name] = f.Data
			}
			report := trace(t, "good.jsonl", files["good.jsonl"])
			for _, d := range report.Diagnostics {
				t.Errorf("good.jsonl: %s: %s", d.Rule.ID(), d.Message)
			}
			report = trace(t, "bad.jsonl", files["bad.jsonl"])
			for _, d := range report.Diagnostics {
				if d.Rule != c.Rule {
					t.Errorf("bad.jsonl: %s: %s", d.Rule.ID(), d.Message)
				}
			}
			if len(report.Diagnostics) == 0 {
				t.Error("nothing is found in bad.jsonl")
			}
			var got bytes.Buffer
			if err := report.Write(&got, "text"); err != nil {
				t.Fatal(err)
			}
			if *update {
				archive.Files = append(archive.Files[:2:2], txtar.File{Name: "want", Data: got.Bytes()})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(files["want"]), got.String()); diff != "" {
				t.Errorf("run with -update if that is meant\n%s", diff)
			}
		})
		delete(there, c.Name)
	}
	for name := range there {
		t.Errorf("%s has an archive and is not a clause", name)
	}
}

// TestSecretLoop: a loop is found although the recording does not have what is rejected.
func TestSecretLoop(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder, "nack-loop.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, with := range []string{"-1s", "[redacted]"} {
		bad := bytes.ReplaceAll(txtar.Parse(text).Files[0].Data, []byte("-1s"), []byte(with))
		if all := trace(t, "bad.jsonl", bad).Diagnostics; len(all) != 1 || all[0].Rule.Name != "nack-loop" {
			t.Errorf("%d findings with %s", len(all), with)
		}
	}
}

func trace(t *testing.T, name string, text []byte) *xdslint.Report {
	t.Helper()
	report, unjudged, err := xdslint.Trace(t.Context(), xdslint.Options{}, map[string][]byte{name: text})
	if err != nil || unjudged > 0 {
		t.Fatalf("%s: %d streams are not judged, %v", name, unjudged, err)
	}
	return report
}
