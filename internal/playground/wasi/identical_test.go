// Package main_test compares the engine in WebAssembly with the native one.
package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/playground"
	"github.com/xdslint/xdslint/internal/requestbar"
	"github.com/xdslint/xdslint/rules"
)

// TestIdentical asks both engines about all examples of the repository, or in short about one of seven: their answers are the same to the byte.
// WebAssembly runs in Node.js, whose V8 is the engine of browsers too.
func TestIdentical(t *testing.T) {
	all := questions(t)
	if testing.Short() {
		count := -1
		all = slices.DeleteFunc(all, func(question) bool { count++; return count%7 != 0 })
	}
	if len(all) == 0 {
		t.Fatal("there is nothing to ask")
	}
	answers := answersOfWASM(t, all)
	native := &playground.Engine{Custom: custom.Constraints(rules.All(), nil), Follow: requestbar.Follow, Holes: requestbar.FindHoles}
	inputs := map[string]bool{}
	for i, q := range all {
		inputs[q.about] = true
		answer := string(native.Call(q.operation, q.request))
		if diff := cmp.Diff(answer, answers[i]); diff != "" {
			t.Errorf("%s: %s: native (-) and WASM (+) differ:\n%s", q.about, q.operation, diff)
		}
		if strings.HasPrefix(answer, `{"error"`) != strings.HasPrefix(q.about, "error: ") {
			t.Errorf("%s: %s: %s", q.about, q.operation, answer)
		}
	}
	t.Logf("native = WASM: %d answers about %d inputs are the same", len(all), len(inputs))
}

// answersOfWASM asks the guest everything in one run. Questions and answers are files, since WASI of Node.js does not wait for a pipe.
func answersOfWASM(t *testing.T, all []question) []string {
	t.Helper()
	node, err := filepath.Abs("../../../.tools/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(node); err != nil {
		t.Fatal("no node in .tools/bin: run `make tools`")
	}
	guest := filepath.Join(t.TempDir(), "engine.wasm")
	run(t, []string{"GOOS=wasip1", "GOARCH=wasm"}, nil, os.Stderr, "go", "build", "-ldflags", "-s -w", "-o", guest, ".")

	in, out := file(t), file(t)
	for _, q := range all {
		if _, err := fmt.Fprintf(in, "%s %s\n", q.operation, q.request); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	run(t, nil, in, out, node, "--disable-warning=ExperimentalWarning", "testdata/host.mjs", guest)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	answers := slices.Collect(strings.Lines(string(text)))
	if len(answers) != len(all) {
		t.Fatalf("%d answers to %d questions", len(answers), len(all))
	}
	return answers
}

func file(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func run(t *testing.T, env []string, in, out *os.File, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
}

// question is one request.
type question struct {
	about, operation string
	request          []byte
}

type fields map[string]any

func ask(about, operation string, request fields) question {
	raw, err := json.Marshal(request)
	if err != nil {
		panic(err) // texts can be written
	}
	return question{about, operation, raw}
}
