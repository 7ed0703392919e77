package snapshots

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/drawing"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// seeds are the example snapshots and the examples of all rules. A fuzzer, whose time is short, begins with some of them.
func seeds(f *testing.F) {
	data := filepath.Join("..", "..", "testdata")
	found, every := 0, 1
	if flag.Lookup("test.fuzz").Value.String() != "" {
		every = 8
	}
	for _, glob := range []string{"snapshots/*/*", "rules/*/*.txtar"} {
		paths, err := filepath.Glob(filepath.Join(data, filepath.FromSlash(glob)))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			files := []txtar.File{{Name: path, Data: text}}
			if filepath.Ext(path) == ".txtar" {
				files = explain.ParseArchive(text).Files
			}
			for _, file := range files {
				if ext := filepath.Ext(file.Name); ext != "" && ext != ".md" { // the archives' own notes have none
					if found%every == 0 {
						f.Add(ext, file.Data)
					}
					found++
				}
			}
		}
	}
	if found < 100 {
		f.Fatalf("only %d seeds", found)
	}
}

// read loads a text as a file with that extension. The files that it names do not exist.
func read(t *testing.T, ext string, text []byte) *load.Input {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"-"}, load.Options{Stdin: bytes.NewReader(text), StdinName: "in" + ext, Root: "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	return input
}

// FuzzGraph builds the graph of any bytes and draws it.
func FuzzGraph(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ext string, text []byte) {
		drawing := drawing.Of(read(t, ext, text).Snapshots)
		ids := map[string]bool{}
		for _, n := range drawing.Nodes {
			if ids[n.ID] {
				t.Errorf("two nodes are %q", n.ID)
			}
			ids[n.ID] = true
			if cut, ok := drawing.From(n.Kind, n.Name, 1); !ok || len(cut.Nodes) == 0 {
				t.Errorf("%q leads nowhere, not even to itself", n.ID)
			}
		}
		for _, draw := range []func(io.Writer) error{drawing.Dot, drawing.Mermaid} {
			if err := draw(io.Discard); err != nil {
				t.Error(err)
			}
		}
		var b bytes.Buffer
		if err := drawing.JSON(&b); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("no JSON (%v): %s", err, b.Bytes())
		}
		for _, line := range drawing.Edges {
			if !ids[line.From.ID] || !ids[line.To.ID] {
				t.Errorf("an edge from %q to %q, which are no nodes", line.From.ID, line.To.ID)
			}
		}
	})
}

// FuzzRun takes any bytes all the way: all rules, suppressions, every format.
func FuzzRun(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ext string, text []byte) {
		input := read(t, ext, text)
		result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()})
		for _, failure := range result.Failures {
			t.Errorf("%v\n%s", failure, failure.Stack)
		}
		suppress.Apply(result, suppress.Options{Ran: rules.Builtin(), Known: rules.Builtin()})
		for i := range result.Diagnostics {
			d := &result.Diagnostics[i]
			if d.Message == "" || d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(d.Resource.File.Text) {
				t.Errorf("%s: %q at %v", d.Rule.ID(), d.Message, d.Span)
			}
		}
		for name, text := range reports(t, result) {
			if err := wellFormed(name, text); err != nil {
				t.Errorf("%s: %v:\n%s", name, err, text)
			}
		}
	})
}

// reports are a result in every format.
func reports(t *testing.T, result *lint.Result) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, format := range report.Formats {
		var b bytes.Buffer
		if err := format.Write(&b, &report.Report{Result: result, FailOn: lint.Error}); err != nil {
			t.Fatalf("%s: %v", format.Name, err)
		}
		all[format.Name] = b.Bytes()
	}
	return all
}

func wellFormed(format string, text []byte) error {
	switch format {
	case "json", "jsonl", "sarif":
		d := json.NewDecoder(bytes.NewReader(text))
		for {
			var v any
			if err := d.Decode(&v); err != nil {
				return ended(err)
			}
		}
	case "junit", "checkstyle":
		d := xml.NewDecoder(bytes.NewReader(text))
		for {
			if _, err := d.Token(); err != nil {
				return ended(err)
			}
		}
	}
	return nil
}

func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
