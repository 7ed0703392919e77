package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var transcript = regexp.MustCompile("(?s)```console\n\\$ xdslint ([^\n]*)\n(.*?)```")

// TestTranscripts runs the commands that the README and the documents show: their output is what the pages say.
func TestTranscripts(t *testing.T) {
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		current := transcript.ReplaceAllStringFunc(string(text), func(block string) string {
			shown++
			command := transcript.FindStringSubmatch(block)[1]
			return "```console\n$ xdslint " + command + "\n" + printed(t, command) + "```"
		})
		if *update {
			if err := os.WriteFile(page, []byte(current), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(text), current); diff != "" {
			t.Errorf("%s: go test ./cmd/xdslint -update writes it:\n%s", page, diff)
		}
	}
	if shown < 2 {
		t.Errorf("%d transcripts: the README shows a first run, and docs/plan.md a plan", shown)
	}
}

// printed is what a command prints, with whatever exit status.
func printed(t *testing.T, command string) string {
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(strings.Fields(command))
	root.SetOut(&out)
	root.SetErr(io.Discard)
	_ = root.ExecuteContext(t.Context()) // it has findings
	return out.String()
}
