package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/report"
)

// canary is how all secrets in testdata/secrets begin, as a text and in base64.
var canary = regexp.MustCompile(`.{0,60}(?:S3CRET|UzNDUkVU).{0,30}`)

// quoting are custom rules that say all they see.
const quoting = `paths: [old]
constraints:
- {id: acme/header, message: envoy.config.core.v3.HeaderValue, expression: "'the value is ' + this.value"}
- {id: acme/source, message: envoy.config.core.v3.DataSource, expression: "'it is ' + this.inline_string"}
`

// TestNoSecretIsShown: no command shows a secret, whatever else is wrong.
func TestNoSecretIsShown(t *testing.T) {
	dir := t.TempDir()
	sides := secretSides(t, dir)
	commands := [][]string{
		{"--diff", "old"},
		{"--diff", "--unsafe-fixes", "old"},
		{"--show-files", "--statistics", "old"},
		{"graph", "old"},
		{"graph", "--format", "mermaid", "old"},
		{"graph", "--format", "json", "old"},
		{"verdict", "old"},
		{"verdict", "--format", "jsonl", "old"},
		{"route", "--path", "/", "--authority", "shop.example.com", "old/edge.yaml"},
		{"posture", "old/edge.yaml"},
		{"posture", "--format", "json", "old/edge.yaml"},
		{"route", "--path", "/", "--authority", "shop.example.com", "--format", "jsonl", "old/edge.yaml"},
		{"config", "show"},
		{"baseline", "write", "old"},
	}
	for _, format := range report.Names() {
		commands = append(commands, []string{"--format", format, "old"}, []string{"--format", format, "--no-config", "old"})
	}
	for _, name := range sides {
		for _, format := range []string{"text", "json"} {
			commands = append(commands, []string{"plan", "--format", format, "old/" + name, "new/" + name}, []string{"diff", "--format", format, "old/" + name, "new/" + name})
		}
	}
	said := 0
	for _, args := range commands {
		var out bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "xdslint", args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) || cmd.ProcessState.ExitCode() > statusFindings && args[0] != "plan" && args[0] != "diff" {
			t.Errorf("%s: %v: %s", args, err, &out)
		}
		hidden(t, strings.Join(args, " "), out.String())
		said += out.Len()
	}
	if said < 100_000 {
		t.Errorf("only %d bytes were written", said)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".xdslint-baseline.json")); err != nil {
		t.Error(err)
	} else {
		hidden(t, "the baseline", string(text))
	}
}

// TestServeShowsNoSecret: neither do the answers of a server, and its log.
func TestServeShowsNoSecret(t *testing.T) {
	dir := t.TempDir()
	names := secretSides(t, dir)
	s := startServe(t, dir)
	for _, format := range []string{"json", "sarif"} {
		fields := map[string]string{}
		for _, name := range names {
			fields[name] = "file"
		}
		contentType, body := files(t, fields, filepath.Join(dir, "old"))
		got := s.post(t, "/v1/lint?format="+format, contentType, body)
		hidden(t, format, got)
		if len(got) < 1000 {
			t.Errorf("there is not much in it: %s", got)
		}
	}
	contentType, body := files(t, map[string]string{"old/edge.yaml": "old", "new/edge.yaml": "new"}, dir)
	hidden(t, "plan", s.post(t, "/v1/plan", contentType, body))
	s.stop(t)
	hidden(t, "the log", s.log.String())
}

func hidden(t *testing.T, what, text string) {
	t.Helper()
	for _, m := range canary.FindAllString(text, 5) {
		t.Errorf("%s shows %q", what, m)
	}
}

// secretSides writes the configurations with secrets into a folder, under old, and with other secrets under new.
func secretSides(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/secrets/*")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	all := map[string][]byte{".xdslint.yaml": []byte(quoting)}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		names = append(names, name)
		all["old/"+name], all["new/"+name] = text, bytes.ReplaceAll(text, []byte("S3CRET-"), []byte("S3CRET-new-"))
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Clip(names)
}
