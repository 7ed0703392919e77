package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// found is one file that the paths name.
type found struct {
	path    string
	named   bool // named by a path itself, not found in a folder: it must be xDS
	outside bool // of the folder that a path names; a link leads there
}

// find lists the files that the paths name: themselves, below folders, by globs.
func (l *loader) find(paths []string) ([]found, error) {
	var all []found
	for _, path := range paths {
		more, err := l.findOne(path)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return unique(all), nil
}

func (l *loader) findOne(path string) ([]found, error) {
	if path == "-" {
		return []found{{path: path, named: true}}, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return l.below(path)
	}
	if err == nil {
		return []found{{path: path, named: true}}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?[") {
		return nil, err
	}
	matches, globErr := filepath.Glob(path)
	if globErr != nil {
		return nil, fmt.Errorf("%s: %w", path, globErr)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("%s: no file matches", path)
	}
	var all []found
	for _, match := range matches {
		more, err := l.findOne(match)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].outside = more[i].outside || outside(globFolder(path), more[i].path)
		}
		all = append(all, more...)
	}
	return all, nil
}

// globFolder returns the folder in which a glob begins.
func globFolder(glob string) string { return filepath.Dir(glob[:strings.IndexAny(glob, "*?[")] + "x") }

// outside reports whether a file that was found in a folder is somewhere else, where a link leads.
func outside(folder, path string) bool {
	rel, err := filepath.Rel(RealPath(folder), RealPath(path))
	return err != nil || !filepath.IsLocal(rel)
}

// below returns the files of a folder, of its subfolders and of the targets of its symbolic links, sorted by name. It
// leaves out hidden folders below the given one.
func (l *loader) below(root string) ([]found, error) {
	w := &walker{loader: l, root: root, entered: map[string]bool{}}
	if err := w.folder(root, false); err != nil {
		return nil, err
	}
	return w.files, nil
}

type walker struct {
	*loader
	root    string
	entered map[string]bool // folders by their real path: links can form a loop
	files   []found
}

// folder reads a folder. Linked says that a link led to it.
func (w *walker) folder(dir string, linked bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	identity, err := filepath.EvalSymlinks(dir)
	if err == nil {
		identity, err = filepath.Abs(identity)
	}
	if err != nil {
		w.skip(dir, err.Error())
		return nil
	}
	if w.entered[identity] {
		w.skip(dir, "a link to a folder that has already been read")
		return nil
	}
	w.entered[identity] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.skip(dir, err.Error())
		return nil
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	for _, entry := range entries {
		if err := w.entry(filepath.Join(dir, entry.Name()), entry, linked); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(path string, entry fs.DirEntry, linked bool) error {
	mode := entry.Type()
	if mode&fs.ModeSymlink != 0 {
		info, err := os.Stat(path)
		if err != nil {
			w.skip(path, "a link to a file that does not exist")
			return nil
		}
		mode, linked = info.Mode(), true
	}
	switch {
	case mode.IsDir() && strings.HasPrefix(entry.Name(), "."):
		return nil
	case mode.IsDir():
		return w.folder(path, linked)
	case !mode.IsRegular():
		w.skip(path, "not a regular file")
	case formatOf(path) == unknownFormat:
		w.skip(path, "the extension is not that of an xDS file")
	default:
		w.files = append(w.files, found{path: path, outside: linked && outside(w.root, path)})
	}
	return nil
}

// unique drops repeated files. A file that is named by any path stays named.
func unique(all []found) []found {
	first := map[string]int{}
	out := all[:0]
	for _, f := range all {
		clean := filepath.Clean(f.path)
		if i, ok := first[clean]; ok {
			out[i].named = out[i].named || f.named
			out[i].outside = out[i].outside && f.outside
			continue
		}
		first[clean] = len(out)
		out = append(out, f)
	}
	return out
}
