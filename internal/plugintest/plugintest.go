// Package plugintest builds plugins for tests. It caches what is slow under .tools: compiled crates, and modules that wazero has compiled.
package plugintest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

const rustTarget = "wasm32-unknown-unknown"

// NoRust says why this machine cannot build plugins in Rust; empty: it can.
func NoRust() string {
	if _, err := exec.LookPath("cargo"); err != nil {
		return "there is no cargo"
	}
	libraries, err := exec.Command("rustc", "--print", "target-libdir", "--target", rustTarget).Output()
	if err != nil {
		return "there is no rustc"
	}
	if _, err := os.Stat(strings.TrimSpace(string(libraries))); err != nil {
		return "rustc has no target " + rustTarget
	}
	return ""
}

// Root is the folder of this module.
func Root() (string, error) {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(file))), err
}

// Kept is a folder that lasts from one test run to the next.
func Kept(name string) (string, error) {
	root, err := Root()
	return filepath.Join(root, ".tools", "guests", name), err
}

// Rust builds the crate in a folder, and returns the module.
func Rust(t testing.TB, dir, crate string) []byte {
	t.Helper()
	kept := Cargo(t, dir, "build", "--release", "--target", rustTarget)
	return read(t, filepath.Join(kept, rustTarget, "release", crate+".wasm"))
}

// Cargo runs cargo in a folder, and returns the folder of its output. It skips the test if this machine cannot build plugins in Rust.
func Cargo(t testing.TB, dir string, command ...string) string {
	t.Helper()
	if missing := NoRust(); missing != "" {
		t.Skipf("%s: this is not tested here", missing)
	}
	kept, err := Kept("rust")
	if err != nil {
		t.Fatal(err)
	}
	build(t, dir, nil, append(append([]string{"cargo"}, command...), "--locked", "--target-dir", kept)...)
	return kept
}

// Compiled returns a cache of compiled plugins that holds a module. Under the race detector wazero takes a minute to
// compile a plugin in Go instead of two seconds, so a process without it does that.
func Compiled(t testing.TB, module []byte) (cache string) {
	t.Helper()
	cache, err := Kept("cache")
	if err != nil {
		t.Fatal(err)
	}
	if err := Compile(module, cache); err != nil {
		t.Fatal(err)
	}
	return cache
}

// Compile puts a module into a cache of compiled plugins, in a process without the race detector.
func Compile(module []byte, cache string) error {
	run := exec.Command("go", "run", "-ldflags", "-X "+wazero+"/internal/version.version="+version(),
		"github.com/xdslint/xdslint/internal/plugintest/compile", cache)
	run.Stdin = bytes.NewReader(module)
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

const wazero = "github.com/tetratelabs/wazero"

// version is the version by which wazero in this process looks into its cache. Not every test binary knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == wazero {
				return dep.Version
			}
		}
	}
	return "dev"
}

// Go builds a main package, and returns the module.
func Go(t testing.TB, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "rules.wasm")
	build(t, dir, []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-o", out, ".")
	return read(t, out)
}

func build(t testing.TB, dir string, env []string, command ...string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), command[0], command[1:]...)
	run.Dir, run.Env = dir, append(os.Environ(), env...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return module
}
