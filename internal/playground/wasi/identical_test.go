// Package main_test compares the engine in WebAssembly with the native one.
package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/internal/playground"
	"github.com/xdslint/xdslint/internal/plugintest"
	"github.com/xdslint/xdslint/rules"
)

// TestIdentical asks both engines about all examples of the repository: their answers are the same to the byte. WebAssembly runs in a process of
// wazero, which would take minutes to compile the engine under the race detector.
func TestIdentical(t *testing.T) {
	all := questions(t)
	if len(all) == 0 {
		t.Fatal("there is nothing to ask")
	}
	dir := t.TempDir()
	wazero, guest := filepath.Join(dir, "wazero"), filepath.Join(dir, "engine.wasm")
	build(t, nil, wazero, "github.com/tetratelabs/wazero/cmd/wazero")
	build(t, []string{"GOOS=wasip1", "GOARCH=wasm"}, guest, "-ldflags", "-s -w", ".")
	cache := compiled(t, guest)
	start := func() *host { return run(t, wazero, "run", "-cachedir="+cache, guest) }

	first := start()
	first.ask(t, question{"about", "about", []byte("{}")}) // now the others find it compiled
	hosts := []*host{first, start()}
	var wait sync.WaitGroup
	next := make(chan question)
	for _, h := range hosts {
		wait.Go(func() {
			for q := range next {
				native, wasm := h.ask(t, q)
				if diff := cmp.Diff(string(native), string(wasm)); diff != "" {
					t.Errorf("%s: %s: native (-) and WASM (+) differ:\n%s", q.about, q.operation, diff)
				}
				if bytes.HasPrefix(native, []byte(`{"error"`)) != strings.HasPrefix(q.about, "error: ") {
					t.Errorf("%s: %s: %s", q.about, q.operation, native)
				}
			}
		})
	}
	inputs := map[string]bool{}
	for _, q := range all {
		inputs[q.about] = true
		next <- q
	}
	close(next)
	wait.Wait()
	t.Logf("native = WASM: %d answers about %d inputs are the same", len(all), len(inputs))
}

// compiled is where wazero keeps what it has made of the guest, for the next run as well: until the guest is another one.
func compiled(t *testing.T, guest string) string {
	t.Helper()
	kept, err := plugintest.Kept("engine")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(guest)
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(kept, fmt.Sprintf("%x", sha256.Sum256(text))[:16])
	others, _ := filepath.Glob(filepath.Join(kept, "*"))
	for _, other := range others {
		if other != cache {
			if err := os.RemoveAll(other); err != nil {
				t.Fatal(err)
			}
		}
	}
	return cache
}

func build(t *testing.T, env []string, to string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", to}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// host is a process in which the guest runs.
type host struct {
	in     io.Writer
	out    *bufio.Reader
	native *playground.Engine // which is asked the same
}

func run(t *testing.T, name string, args ...string) *host {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	return &host{in, bufio.NewReader(out), &playground.Engine{Custom: custom.Constraints(rules.All(), nil)}}
}

// ask asks both engines, at the same time.
func (h *host) ask(t *testing.T, q question) (native, wasm []byte) {
	line := append(append([]byte(q.operation+" "), q.request...), '\n')
	if _, err := h.in.Write(line); err != nil {
		t.Errorf("%s: %s: %v", q.about, q.operation, err)
		return nil, nil
	}
	native = h.native.Call(q.operation, q.request)
	wasm, err := h.out.ReadBytes('\n')
	if err != nil {
		t.Errorf("%s: %s: %v", q.about, q.operation, err)
	}
	return native, wasm
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
