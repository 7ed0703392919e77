package scaffold

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func project(t *testing.T, language string) map[string]string {
	t.Helper()
	files := map[string]string{}
	i := slices.IndexFunc(Languages, func(l Language) bool { return l.Name == language })
	for _, f := range Languages[i].Files("our-rules") {
		if files[f.Name] != "" {
			t.Errorf("duplicate file %s", f.Name)
		}
		files[f.Name] = string(f.Text)
	}
	return files
}

// TestSelfContained: a project does not refer to files outside of it. Scripts in testdata/cli build it.
func TestSelfContained(t *testing.T) {
	for _, l := range Languages {
		for name, text := range project(t, l.Name) {
			if strings.Contains(text, `"`+own+`/`) || strings.Contains(text, `"../`) {
				t.Errorf("%s: %s refers to a path outside of the project", l.Name, name)
			}
			if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".wasm") {
				t.Errorf("%s: %s must not be in a project", l.Name, name)
			}
		}
	}
}

// TestCommands: the README has the commands that xdslint prints.
func TestCommands(t *testing.T) {
	for _, l := range Languages {
		readme := project(t, l.Name)["README.md"]
		for command := range strings.SplitSeq(l.Build, " && ") {
			if !strings.Contains(readme, "\n"+command+"\n") {
				t.Errorf("%s: %q is not in README.md", l.Name, command)
			}
		}
	}
}

// TestModules: each module is required in a version that is in go.sum.
func TestModules(t *testing.T) {
	files := project(t, "go")
	required := regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(files["go.mod"], -1)
	if len(required) != len(modules) {
		t.Errorf("go.mod requires %d modules, not %d:\n%s", len(required), len(modules), files["go.mod"])
	}
	for _, m := range required {
		if !strings.Contains(files["go.sum"], m[1]+" "+m[2]+" h1:") {
			t.Errorf("go.sum does not know %s %s", m[1], m[2])
		}
	}
	if !strings.HasPrefix(files["go.mod"], "module example.com/our-rules\n\ngo 1.") {
		t.Errorf("go.mod begins with %q", files["go.mod"][:50])
	}
}
