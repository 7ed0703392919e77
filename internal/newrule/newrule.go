// Package newrule writes the scaffold of a rule.
package newrule

import (
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Write writes the two files of a new rule, below the module's root as working directory, and returns their names.
func Write(group, name string) (rule, archive string, err error) {
	s, err := scaffoldOf(group, name)
	if err != nil {
		return "", "", err
	}
	if err := write(s.rule, s.code); err != nil {
		return "", "", err
	}
	return s.rule, s.archive, write(s.archive, s.examples)
}

// scaffold is the two files of a rule.
type scaffold struct {
	rule, code        string
	archive, examples string
}

// groups is the folder of the groups. scaffold.txtar in a group's folder holds the idiom of the group: rule.go, and the sections of an archive.
const groups = "rules/internal"

func scaffoldOf(group, name string) (s scaffold, err error) {
	if !nameForm.MatchString(name) {
		return s, fmt.Errorf("%q: a name states the defect in lower case with dashes, such as unknown-cluster", name)
	}
	folder := filepath.Join(groups, group)
	text, err := os.ReadFile(filepath.Join(folder, "scaffold.txtar"))
	if err != nil {
		return s, fmt.Errorf("no group %q: write %s/%s.go and scaffold.txtar as the other groups do, and list it in rules/rules.go", group, filepath.ToSlash(folder), group)
	}
	s.rule = filepath.Join(folder, strings.ReplaceAll(name, "-", "_")+".go")
	if !built(s.rule) {
		return s, fmt.Errorf("%s: Go builds files with this ending on some machines only: let the name end otherwise", s.rule)
	}
	a := txtar.Parse(text)
	s.code = strings.ReplaceAll(string(a.Files[0].Data), "NAME", name)
	s.archive = filepath.Join("testdata", "rules", group, name+".txtar")
	s.examples = string(txtar.Format(&txtar.Archive{Files: a.Files[1:]}))
	return s, nil
}

// built reports whether a file's name alone does not keep Go from building it: x_test.go, x_linux.go, x_wasm.go …
func built(path string) bool {
	nowhere := build.Default
	nowhere.GOOS, nowhere.GOARCH = "none", "none"
	nowhere.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }
	ok, err := nowhere.MatchFile(filepath.Split(path))
	return ok && err == nil && !strings.HasSuffix(path, "_test.go")
}

// write makes a new file; it never overwrites one.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
