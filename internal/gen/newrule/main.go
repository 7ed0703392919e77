//go:build gen

// Command newrule writes the scaffold of a rule: `make new-rule GROUP=reference NAME=unknown-cluster`.
package main

import (
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "new-rule:", err)
		os.Exit(1)
	}
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func run(args []string) error {
	if len(args) != 2 || args[0] == "" || args[1] == "" {
		return errors.New("usage: make new-rule GROUP=reference NAME=unknown-cluster")
	}
	group, name := args[0], args[1]
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%q: a name states the defect in lower case with dashes, such as unknown-cluster", name)
	}
	if _, err := os.Stat(filepath.Join("rules", "internal", group, group+".go")); err != nil {
		return fmt.Errorf("no group %q: write rules/internal/%s/%[1]s.go as the other groups do and list it in rules/rules.go", group, group)
	}
	stem := strings.ReplaceAll(name, "-", "_")
	rule := filepath.Join("rules", "internal", group, stem+".go")
	if !built(rule) {
		return fmt.Errorf("%s: Go builds files with this ending on some machines only: let the name end otherwise", rule)
	}
	example := filepath.Join("testdata", "rules", group, name+".txtar")
	if err := write(rule, ruleText, "GROUP", group, "NAME", name); err != nil {
		return err
	}
	if err := write(example, exampleText); err != nil {
		return err
	}
	fmt.Printf("Fill in %s and %s, then: go test ./rules -update, and make update for the rule's page\n", rule, example)
	return nil
}

// built tells whether a file's name alone does not keep Go from building it: x_test.go, x_linux.go, x_wasm.go …
func built(path string) bool {
	nowhere := build.Default
	nowhere.GOOS, nowhere.GOARCH = "none", "none"
	nowhere.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }
	ok, err := nowhere.MatchFile(filepath.Split(path))
	return ok && err == nil && !strings.HasSuffix(path, "_test.go")
}

// write makes a new file; it never overwrites one.
func write(path, text string, replace ...string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(replace...).WriteString(f, text)
	return errors.Join(err, f.Close())
}

const ruleText = `package GROUP

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "NAME",
	Severity: lint.Warning,
	Summary:  "TODO: one line: what it finds",
	Why:      "TODO: what the data plane does with it, where that was seen, what to write instead.",
	Run: lint.Each(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if c.GetName() == "todo" {
			p.Reportf(at.Field("name"), "TODO: what is wrong with %q", c.GetName())
		}
	}),
})
`

const exampleText = `-- bad.yaml --
static_resources:
  clusters:
  - name: todo
-- good.yaml --
static_resources:
  clusters:
  - name: backend
-- want --
`
