package newrule

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/rules"
)

// TestScaffold makes a rule in every group, and lets the tests of the rules run over its examples; Envoy is not asked.
func TestScaffold(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var overlay struct{ Replace map[string]string } // files that are there for the go command alone
	overlay.Replace = map[string]string{}
	for _, g := range rules.Groups {
		s, err := scaffoldOf(g.Name, "made-anew")
		if err != nil {
			t.Fatal(err)
		}
		code := filepath.Join(dir, g.Name+".go")
		overlay.Replace[filepath.Join(root, s.rule)] = code
		for path, text := range map[string]string{code: s.code, filepath.Join(dir, "archives", g.Name, "made-anew.txtar"): s.examples} {
			if err := write(path, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(dir, "overlay.json"), string(text)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet", "off", "-overlay", filepath.Join(dir, "overlay.json"), "./rules",
		"-run", "^TestArchives$/././^none$", "-archives", filepath.Join(dir, "archives"), "-update").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, g := range rules.Groups {
		archive, err := os.ReadFile(filepath.Join(dir, "archives", g.Name, "made-anew.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "[" + g.Name + "/made-anew]: TODO"; !strings.Contains(string(archive), want) {
			t.Errorf("%q is not in\n%s", want, archive)
		}
	}
}

func TestNames(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for _, c := range []struct{ group, name, want string }{
		{"reference", "Unknown", "in lower case"},
		{"reference", "bad-wasm", "on some machines only"},
		{"reference", "bad-test", "on some machines only"},
		{"nowhere", "unknown-cluster", `no group "nowhere"`},
	} {
		if _, err := scaffoldOf(c.group, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: the error is %v, want %s", c.group, c.name, err, c.want)
		}
	}
}
