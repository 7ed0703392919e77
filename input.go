package xdslint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

// Input is the input of a Linter: Paths, Texts, Snapshots or Loaded.
type Input struct {
	origin
	name  string
	whole bool
}

// origin is the source of an input. Only Paths refers to code that reads the disk, so a program without Paths does not link it.
type origin interface {
	// load reads it, some of its files with another text, by their keys.
	load(ctx context.Context, l *Linter, changed map[string][]byte) (*load.Input, error)
	// names are what it is made of, as a baseline remembers them.
	names(*Linter) []string
	// key is the same for all names of a file, and empty for one that fixes must not change.
	key(f *graph.SourceFile, read []load.FileReport) string
	// fixable says why fixes cannot change it; nil: they can.
	fixable(*Linter) error
	// single is the name of the file that is all of it.
	single() (string, error)
}

// Paths returns an input of files, folders and globs; "-" is standard input. Without arguments it reads the paths of the configuration.
func Paths(all ...string) Input { return Input{origin: paths(all), whole: len(all) == 0} }

// Texts returns an input of texts by their names. Nothing else is read: a file that a bootstrap names is looked for among them.
// The texts must not change as long as the report is in use.
func Texts(all map[string][]byte) Input { return Input{origin: texts(all)} }

// Loaded returns an input that has been read by Linter.Load or package load.
func Loaded(input *load.Input) Input { return Input{origin: loaded{input}} }

// Snapshots returns an input of existing graphs, such as gocp.Snapshot creates of a go-control-plane snapshot.
func Snapshots(all ...*graph.Snapshot) Input { return Loaded(&load.Input{Snapshots: all}) }

// Named returns the input with a name, which errors about the whole input contain.
func (in Input) Named(name string) Input {
	in.name = name
	return in
}

// Whole returns the input, declared to be everything that the configuration is for. An ignore of the configuration that hides nothing is then reported.
// The paths that the configuration itself names are always such an input.
func (in Input) Whole() Input {
	in.whole = true
	return in
}

// Texts returns the texts of an input that the function Texts returned, and nil for any other input.
func (in Input) Texts() map[string][]byte {
	all, _ := in.origin.(texts)
	return maps.Clone(all)
}

// ErrNoPaths is the error if neither an input nor the configuration names anything to read.
var ErrNoPaths = errors.New("nothing to read: name files or folders, or set paths in " + ConfigName)

// Load reads an input, without running rules.
func (l *Linter) Load(ctx context.Context, in Input) (*load.Input, error) {
	return l.load(ctx, in, nil)
}

func (l *Linter) load(ctx context.Context, in Input, changed map[string][]byte) (*load.Input, error) {
	if in.origin == nil {
		return nil, ErrNoPaths
	}
	return in.origin.load(ctx, l, changed)
}

// loading are the options of a load.
func (l *Linter) loading() load.Options {
	opts := l.options.Load
	if l.options.Progress != nil {
		n := 0
		opts.Progress = func(path string) {
			n++ // one call at a time
			l.progress("reading file %d: %s", n, path)
		}
	}
	return opts
}

// paths on the disk.
type paths []string

func (p paths) load(ctx context.Context, l *Linter, changed map[string][]byte) (*load.Input, error) {
	all := p.names(l)
	if len(all) == 0 {
		return nil, ErrNoPaths
	}
	opts := l.loading()
	opts.Texts = changed
	input, err := load.Paths(ctx, all, opts)
	if input != nil && len(p) == 0 && l.config.File != nil {
		markOutside(input.Files, filepath.Dir(l.config.File.Name))
	}
	return input, err
}

// markOutside marks the files that the paths of a configuration name and that are neither in its folder nor in this one.
// The configuration may be a stranger's.
func markOutside(files []load.FileReport, folder string) {
	for i := range files {
		f := &files[i]
		f.Outside = f.Outside || !within(folder, f.Path) && !within(".", f.Path)
	}
}

// within reports whether a file is in a folder, or a folder in it, wherever links lead.
func within(folder, path string) bool {
	rel, err := filepath.Rel(load.RealPath(folder), load.RealPath(path))
	return err == nil && filepath.IsLocal(rel)
}

func (p paths) names(l *Linter) []string {
	if len(p) == 0 {
		return l.config.InputPaths()
	}
	return p
}

// key returns the real path of a file that the paths lead to, if its text is the content on disk. The text of a file in UTF-16 is not.
func (p paths) key(f *graph.SourceFile, read []load.FileReport) string {
	given := slices.ContainsFunc(read, func(r load.FileReport) bool { return r.Path == f.Name && r.As != "" && !r.Followed && !r.Outside })
	if !given {
		return ""
	}
	real := load.RealPath(f.Name)
	if text, err := os.ReadFile(real); err != nil || !bytes.Equal(text, f.Text) {
		return ""
	}
	return real
}

func (p paths) fixable(l *Linter) error {
	if slices.Contains(p.names(l), "-") {
		return errors.New("standard input cannot be fixed: give the name of a file")
	}
	return nil
}

func (p paths) single() (string, error) {
	if len(p) != 1 {
		return "", errNotSingle
	}
	if p[0] == "-" {
		return "-", nil
	}
	info, err := os.Stat(p[0])
	if err != nil || !info.Mode().IsRegular() { // what is read from a pipe cannot be read again
		return p[0], err
	}
	f, err := os.Open(p[0])
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return p[0], nil
}

// texts by their names.
type texts map[string][]byte

func (t texts) load(ctx context.Context, l *Linter, changed map[string][]byte) (*load.Input, error) {
	all := t
	if len(changed) > 0 {
		all = maps.Clone(t)
		maps.Copy(all, changed)
	}
	return load.Texts(ctx, all, l.loading())
}

func (t texts) names(*Linter) []string { return slices.Sorted(maps.Keys(t)) }

func (t texts) key(f *graph.SourceFile, _ []load.FileReport) string {
	if _, given := t[f.Name]; given {
		return f.Name
	}
	return ""
}

func (t texts) fixable(*Linter) error { return nil }

func (t texts) single() (string, error) {
	if len(t) != 1 {
		return "", errNotSingle
	}
	return t.names(nil)[0], nil
}

// loaded is an input that was already read.
type loaded struct{ *load.Input }

func (i loaded) load(context.Context, *Linter, map[string][]byte) (*load.Input, error) {
	return i.Input, nil
}

func (i loaded) names(*Linter) (names []string) {
	for _, f := range i.Files {
		if !f.Followed {
			names = append(names, f.Path)
		}
	}
	return names
}

func (loaded) key(*graph.SourceFile, []load.FileReport) string { return "" }

func (loaded) fixable(*Linter) error { return errors.New("only files and texts can be fixed") }

func (loaded) single() (string, error) { return "", errNotSingle }

// title returns the name of an input in errors.
func (l *Linter) title(in Input) string {
	if in.name == "" {
		return strings.Join(in.names(l), ", ")
	}
	return in.name
}
