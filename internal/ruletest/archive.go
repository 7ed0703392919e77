// Package ruletest runs custom rules over the examples in their archives, testdata/GROUP/NAME.txtar:
//
//	bad*.yaml, bad1/…   an example with findings; a folder is several files in one run
//	good*.yaml, …       an example without findings
//	flags               optional: "assume KIND:GLOB", "open KIND", "closed KIND", "target PLANE:VERSION", one a line; for one
//	                    example only with "EXAMPLE: " before it
//	want                the text report of the bad ones
//	fixed/bad.yaml, …   a bad one after --fix --unsafe-fixes, if they change it
//	envoy               optional, and not read here: for tests that ask Envoy
//
// The archives of the built-in rules have the same format. Here no other rule runs, so an example needs only what its rule reads.
package ruletest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/explain"
)

// Folder of the archives, next to a configuration or a plugin.
const Folder = "testdata"

// archive has the examples of one rule.
type archive struct {
	path    string
	rule    string // its id
	text    *txtar.Archive
	samples []explain.Sample
}

// find lists the archives below a folder, which need not exist.
func find(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".txtar" {
			paths = append(paths, path)
		}
		return err
	})
	if os.IsNotExist(err) {
		return nil, nil
	}
	return paths, err
}

// read reads an archive; dir is the folder of the groups.
func read(dir, path string) (*archive, error) {
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return nil, err
	}
	text, err := txtar.ParseFile(path)
	if err != nil {
		return nil, err
	}
	return &archive{path: path, rule: strings.TrimSuffix(filepath.ToSlash(name), ".txtar"), text: text}, nil
}

// check reads the examples, and finds files that would be ignored.
func (a *archive) check() (err error) {
	for i, f := range a.text.Files {
		name, _, _ := strings.Cut(f.Name, "/")
		switch {
		case !fs.ValidPath(f.Name):
			return fmt.Errorf("%q is not a valid file name", f.Name)
		case slices.ContainsFunc(a.text.Files[:i], func(g txtar.File) bool { return g.Name == f.Name }):
			return fmt.Errorf("duplicate file %s", f.Name)
		case f.Name == "want", f.Name == "flags", f.Name == "envoy", name == "fixed":
		case !strings.HasPrefix(name, "bad") && !strings.HasPrefix(name, "good"):
			return fmt.Errorf("%s: the name of an example must begin with bad or good", f.Name)
		}
	}
	if a.samples, err = explain.SamplesOf(a.text); err != nil {
		return err
	}
	for _, wanted := range []struct {
		bad  bool
		what string
	}{{true, "bad.yaml, with findings"}, {false, "good.yaml, without findings"}} {
		if !slices.ContainsFunc(a.samples, func(s explain.Sample) bool { return s.Bad() == wanted.bad }) {
			return fmt.Errorf("there is no example such as %s", wanted.what)
		}
	}
	return nil
}

// outcome is the current findings of the rule in the bad examples.
type outcome struct {
	want  string
	fixed map[string]string
}

// wanted is the outcome in the archive.
func (a *archive) wanted() outcome {
	o := outcome{fixed: map[string]string{}}
	for _, f := range a.text.Files {
		if f.Name == "want" {
			o.want = string(f.Data)
		}
		if name, ok := strings.CutPrefix(f.Name, "fixed/"); ok {
			o.fixed[name] = string(f.Data)
		}
	}
	return o
}

// write writes an outcome into the archive.
func (a *archive) write(o outcome) error {
	files := slices.DeleteFunc(slices.Clone(a.text.Files), func(f txtar.File) bool {
		return f.Name == "want" || strings.HasPrefix(f.Name, "fixed/")
	})
	files = append(files, txtar.File{Name: "want", Data: []byte(o.want)})
	for _, name := range slices.Sorted(maps.Keys(o.fixed)) {
		files = append(files, txtar.File{Name: "fixed/" + name, Data: []byte(o.fixed[name])})
	}
	return os.WriteFile(a.path, txtar.Format(&txtar.Archive{Comment: a.text.Comment, Files: files}), 0o644)
}
