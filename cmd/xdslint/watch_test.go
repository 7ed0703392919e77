package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	watched = "static_resources:\n  clusters:\n  - {name: shop, connect_timeout: 1s, load_assignment: {cluster_name: shop}}\n"
	broken  = "static_resources:\n  clusters:\n  - {name: shop, connect_timeout: 0s, load_assignment: {cluster_name: shop}}\n"
)

// TestWatch: after each change of a file, of a new one in a folder and of the configuration, findings are shown, until an interrupt ends it.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		other := filepath.Join(dir, "."+name) // as editors do
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("envoy.yaml", watched)
	write(".xdslint.yaml", "severities: {}\n")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "xdslint", "lint", "--watch", "--select", "schema", ".")
	command.Dir = dir
	read, out := io.Pipe()
	command.Stdout, command.Stderr = out, out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- command.Wait()
		_ = out.Close()
	}()
	lines := bufio.NewScanner(read)
	next := func(want string) {
		t.Helper()
		var all []string
		for lines.Scan() {
			all = append(all, lines.Text())
			if strings.Contains(lines.Text(), "waiting for changes") {
				break
			}
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, want) {
			t.Fatalf("want %q, got:\n%s", want, text)
		}
	}
	next("no findings in 1 file")
	write("envoy.yaml", broken)
	next("1 error in 1 file")
	write("second.yaml", broken)
	next("2 errors in 2 files")
	write(".xdslint.yaml", "severities: {schema/constrant: warning}\n")
	next(`did you mean "schema/constraint"?`)
	write(".xdslint.yaml", "severities: {schema/constraint: warning}\n")
	next("2 warnings in 2 files")
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, read)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
