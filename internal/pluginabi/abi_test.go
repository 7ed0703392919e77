// Package pluginabi_test holds the generated code to plugin.proto.
package pluginabi_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "generate plugin.pb.go")

// TestGenerated: plugin.pb.go is what protoc makes of plugin.proto.
func TestGenerated(t *testing.T) {
	const root, file = "../..", "plugin.pb.go"
	protoc, err := filepath.Abs(root + "/.tools/bin/protoc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(protoc); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no protoc in .tools/bin: run `make tools`")
	}
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = root // the file's name in the program-wide registry of descriptors is its path from here
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	run("go", "build", "-o", dir, "google.golang.org/protobuf/cmd/protoc-gen-go")
	run(protoc, "--plugin="+filepath.Join(dir, "protoc-gen-go"), "--go_out="+dir, "--go_opt=paths=source_relative", "-I.", "internal/pluginabi/plugin.proto")
	want, err := os.ReadFile(filepath.Join(dir, "internal/pluginabi", file))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("`go test ./internal/pluginabi -update` writes it anew: -want +got:\n%s", diff)
	}
}
