package xdslint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// Fixed is the result of fixing an input.
type Fixed struct {
	Before, After *Report // of the files as they were, and with their new texts
	Applied       int     // fixes
	Files         []FixedFile
}

// FixedFile is a file with a changed text.
type FixedFile struct {
	Name          string // as in findings
	Before, After []byte
	key           string // of paths: the real path
}

// Fix applies the safe fixes of findings, and if unsafe is true also the likely ones. It lints again until no fix is left. It does not
// change files that only a bootstrap names. Fix does not write any file: Fixed.Write does.
//
// When ctx ends, Fix returns its error and the result so far.
func (l *Linter) Fix(ctx context.Context, in Input, unsafe bool) (*Fixed, error) {
	if in.origin == nil {
		return nil, ErrNoPaths
	}
	if err := in.fixable(l); err != nil {
		return nil, err
	}
	f := &fixing{ctx: ctx, linter: l, input: in, keys: map[string]string{}, names: map[string]string{}}
	outcome, err := fix.Rounds(fix.Work{Unsafe: unsafe, Lint: f.lint, Key: f.key})
	if err != nil {
		return nil, err
	}
	if outcome.Result != f.last.Result { // the last run was of fixes that were not kept
		if _, err := f.lint(outcome.After); err != nil {
			return nil, err
		}
	}
	return &Fixed{Before: f.first.report(), After: f.last.report(), Applied: outcome.Applied, Files: f.files(outcome)}, ctx.Err()
}

// fixing has what package fix needs to know about an input.
type fixing struct {
	ctx         context.Context
	linter      *Linter
	input       Input
	first, last *run
	keys        map[string]string // by the names of files; empty for those that may not be changed
	names       map[string]string // and the other way round
}

func (f *fixing) lint(texts map[string][]byte) (*lint.Result, error) {
	r, err := f.linter.run(f.ctx, f.input, texts)
	if err != nil {
		return nil, err
	}
	if f.last = r; f.first == nil {
		f.first = r
	}
	return r.Result, nil
}

// key is the same for all names of a file that may be changed.
func (f *fixing) key(file *source.File) string {
	key, known := f.keys[file.Name]
	if known {
		return key
	}
	key = f.input.key(file, f.last.loaded.Files)
	f.keys[file.Name] = key
	if key != "" {
		f.names[key] = file.Name
	}
	return key
}

// files returns the files whose texts differ, by name.
func (f *fixing) files(o *fix.Outcome) (all []FixedFile) {
	for key, text := range o.After {
		if bytes.Equal(text, o.Before[key]) {
			continue
		}
		all = append(all, FixedFile{Name: f.names[key], Before: o.Before[key], After: text, key: key})
	}
	slices.SortFunc(all, func(a, b FixedFile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Write writes the changed files, each atomically. It does not overwrite a file that has changed meanwhile or is read-only.
func (f *Fixed) Write() error {
	var all []error
	for i := range f.Files {
		file := &f.Files[i]
		if err := file.replace(); err != nil {
			all = append(all, fmt.Errorf("%s is not fixed: %w", file.Name, err))
		}
	}
	return errors.Join(all...)
}

func (f *FixedFile) replace() error {
	text, err := os.ReadFile(f.key)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, f.Before) {
		return errors.New("it has changed meanwhile")
	}
	info, err := os.Stat(f.key)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return errors.New("it is read-only")
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.key), "."+filepath.Base(f.key)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after success it no longer exists
	_, err = tmp.Write(f.After)
	if err := errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), f.key)
}
