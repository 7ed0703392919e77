package xdslint

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

// Input is what is judged. The zero value is what the configuration names under paths.
type Input struct {
	name   string
	paths  []string
	texts  map[string][]byte
	loaded *load.Input
	whole  bool
}

// Paths are files, folders and globs; "-" is standard input. Without any, it is those that the configuration names.
func Paths(paths ...string) Input { return Input{paths: paths} }

// Texts are files by their names. Nothing else is read: a file that a bootstrap names is looked for among them.
func Texts(texts map[string][]byte) Input {
	if texts == nil {
		texts = map[string][]byte{}
	}
	return Input{texts: texts}
}

// Texts are the files that the input was made of by Texts.
func (in Input) Texts() map[string][]byte { return maps.Clone(in.texts) }

// Loaded is what was read already, by Linter.Load or package load.
func Loaded(input *load.Input) Input { return Input{loaded: input} }

// Snapshots are graphs that there are already, such as gocp.Snapshot makes of what a go-control-plane cache holds.
func Snapshots(all ...*graph.Snapshot) Input { return Loaded(&load.Input{Snapshots: all}) }

// Named gives an input a name for errors about it as a whole.
func (in Input) Named(name string) Input {
	in.name = name
	return in
}

// Whole says that the input is all that the configuration was written for: an ignore in it that hides nothing is then a finding. The paths that the
// configuration itself names are that anyway.
func (in Input) Whole() Input {
	in.whole = true
	return in
}

// title is what errors call the input.
func (in Input) title() string {
	if in.name != "" || len(in.paths) == 0 {
		return cmp.Or(in.name, "the input")
	}
	return strings.Join(in.paths, ", ")
}

// configured tells whether the input is what the configuration names.
func (in Input) configured() bool { return in.texts == nil && in.loaded == nil && len(in.paths) == 0 }

// Load reads an input, and judges nothing.
func (l *Linter) Load(ctx context.Context, in Input) (*load.Input, error) {
	return l.load(ctx, in, nil)
}

// load reads an input, some of its files with another text: by the names of texts, and by the RealPath of paths.
func (l *Linter) load(ctx context.Context, in Input, changed map[string][]byte) (*load.Input, error) {
	opts := l.options.Load
	if l.options.Progress != nil {
		n := 0
		opts.Progress = func(path string) {
			n++ // one call at a time
			l.progress("reading file %d: %s", n, path)
		}
	}
	switch {
	case in.loaded != nil:
		return in.loaded, nil
	case in.texts != nil:
		texts := maps.Clone(in.texts)
		maps.Copy(texts, changed)
		return load.Texts(ctx, texts, opts)
	}
	paths, err := l.paths(in)
	if err != nil {
		return nil, err
	}
	opts.Texts = changed
	return load.Paths(ctx, paths, opts)
}

// ErrNoPaths says that neither an input nor the configuration names anything to read.
var ErrNoPaths = errors.New("nothing to read: name files or folders, or set paths in " + ConfigName)

// paths are those of an input, or else of the configuration.
func (l *Linter) paths(in Input) ([]string, error) {
	paths := in.paths
	if in.configured() {
		paths = l.config.InputPaths()
	}
	if len(paths) == 0 {
		return nil, ErrNoPaths
	}
	return paths, nil
}

// names are what an input was made of, as a baseline remembers it.
func (l *Linter) names(in Input) (names []string) {
	switch {
	case in.loaded != nil:
		for _, f := range in.loaded.Files {
			if !f.Followed {
				names = append(names, f.Path)
			}
		}
	case in.texts != nil:
		names = slices.Sorted(maps.Keys(in.texts))
	default:
		names, _ = l.paths(in) // without paths nothing was read
	}
	return names
}
