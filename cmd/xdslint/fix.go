package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

type fixFlags struct {
	fix, unsafe, diff bool
}

func (f *fixFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.fix, "fix", false, "fix what has one right answer, in the files themselves; only what remains is reported")
	flags.BoolVar(&f.unsafe, "unsafe-fixes", false, "with --fix or --diff: fix also what has a likely answer")
	flags.BoolVar(&f.diff, "diff", false, "change nothing, and show what --fix would change; exit status 1 if it would change anything")
}

// checkFix finds flags that do not go together.
func (f *lintFlags) checkFix(cmd *cobra.Command) error {
	fixes := f.fix || f.diff
	switch {
	case f.fix && f.diff:
		return errors.New("--fix changes files and --diff only shows how: choose one")
	case f.unsafe && !fixes:
		return errors.New("--unsafe-fixes says which fixes --fix applies or --diff shows: add one of them")
	case f.diff && (cmd.Flags().Changed("format") || len(f.outputs) > 0):
		return errors.New("--diff shows no findings: leave out --format and --output")
	case fixes && f.configYAML != "":
		return errors.New("--config-yaml changes what the files say, so they cannot be fixed: leave it out")
	}
	return nil
}

// judge runs the rules; with --fix or --diff until there is nothing left to fix. With --fix it writes the fixed files.
func (f *lintFlags) judge(ctx context.Context, c *check, stderr io.Writer) (*fixed, error) {
	once := func(texts map[string][]byte) (*lint.Result, error) {
		c.texts, c.hidden, c.times = texts, report.Hidden{}, nil
		if err := c.run(ctx, stderr); err != nil {
			return nil, err
		}
		return c.result, c.applyBaseline(ctx.Err() == nil)
	}
	w := &fixed{writable: &writable{check: c, keys: map[string]string{}, names: map[string]string{}}}
	if !f.fix && !f.diff {
		_, err := once(nil)
		return w, err
	}
	if slices.Contains(c.paths, "-") {
		return nil, errors.New("standard input cannot be fixed: give the name of a file")
	}
	var err error
	if w.Outcome, err = fix.Rounds(fix.Work{Unsafe: f.unsafe, Lint: once, Key: w.key}); err != nil {
		return nil, err
	}
	if w.Result != c.result { // the last run was of fixes that were not kept
		if _, err := once(w.After); err != nil {
			return nil, err
		}
	}
	if f.fix && ctx.Err() == nil {
		if w.failure = failed(w.write()); w.failure != nil {
			_, err = once(nil) // of what is in the files now
		}
	}
	return w, err
}

// fixed is what became of the fixes.
type fixed struct {
	*fix.Outcome // nil: nobody asked for them
	*writable
	failure error // of writing some of the files
}

// writable tells which files may be changed: those that the paths lead to, if their text is what is on disk.
type writable struct {
	check *check
	keys  map[string]string // by the names of files; empty for those that may not be changed
	names map[string]string // and the other way round
}

func (w *writable) key(f *source.File) string {
	key, known := w.keys[f.Name]
	if known {
		return key
	}
	given := slices.ContainsFunc(w.check.input.Files, func(r load.FileReport) bool {
		return r.Path == f.Name && r.As != "" && !r.Followed
	})
	if given {
		real := load.RealPath(f.Name)
		if text, err := os.ReadFile(real); err == nil && bytes.Equal(text, f.Text) { // UTF-16 is not
			key = real
			w.names[key] = f.Name
		}
	}
	w.keys[f.Name] = key
	return key
}

// write replaces the files, each in one step.
func (w *fixed) write() error {
	var all []error
	for _, path := range w.changed() {
		if err := replace(path, w.Before[path], w.After[path]); err != nil {
			all = append(all, fmt.Errorf("%s is not fixed: %w", w.names[path], err))
		}
	}
	return errors.Join(all...)
}

// changed are the files with another text, sorted by name.
func (w *fixed) changed() []string {
	var paths []string
	for path, text := range w.After {
		if !bytes.Equal(text, w.Before[path]) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(w.names[a], w.names[b]) })
	return paths
}

// replace writes a file anew, unless somebody else changed it meanwhile.
func replace(path string, before, after []byte) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, before) {
		return errors.New("it was changed meanwhile")
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o200 == 0 {
		return errors.New("it is read-only")
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already, where all went well
	_, err = tmp.Write(after)
	if err := errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// sayFixes tells what was fixed, and what could be.
func (f *lintFlags) sayFixes(stderr io.Writer, c *check, w *fixed) {
	safe, unsafe, followed := w.left(c.result)
	var parts []string
	if w.Outcome != nil && w.Applied > 0 {
		done := "fixed"
		if f.diff {
			done = "--fix would fix"
		}
		parts = append(parts, fmt.Sprintf("%s %s in %s", done, number(w.Applied, "finding"), number(len(w.changed()), "file")))
	}
	more := ""
	if len(parts) > 0 {
		more = " more"
	}
	switch {
	case w.Outcome != nil && unsafe > 0 && !f.unsafe:
		parts = append(parts, fmt.Sprintf("%d%s can be fixed with --unsafe-fixes", unsafe, more))
	case w.Outcome == nil && safe > 0 && unsafe > 0:
		parts = append(parts, fmt.Sprintf("%d can be fixed with --fix, %d more with --unsafe-fixes too", safe, unsafe))
	case w.Outcome == nil && safe > 0:
		parts = append(parts, fmt.Sprintf("%d can be fixed with --fix", safe))
	case w.Outcome == nil && unsafe > 0:
		parts = append(parts, fmt.Sprintf("%d can be fixed with --fix --unsafe-fixes", unsafe))
	}
	if len(parts) > 0 {
		fmt.Fprintln(stderr, strings.Join(parts, "; "))
	}
	if w.Outcome != nil && len(followed) > 0 {
		fmt.Fprintf(stderr, "not fixed, since only a bootstrap names it: %s\n", strings.Join(followed, ", "))
	}
}

// left counts the findings that could be fixed, and names the files that would have to be given for more.
func (w *writable) left(result *lint.Result) (safe, unsafe int, followed []string) {
	for i := range result.Diagnostics {
		d := &result.Diagnostics[i]
		name := d.Resource.File.Name
		switch {
		case fix.Of(d, true) == nil:
		case !w.follows(name) && fix.Of(d, false) != nil:
			safe++
		case !w.follows(name):
			unsafe++
		case !slices.Contains(followed, name):
			followed = append(followed, name)
		}
	}
	return safe, unsafe, followed
}

func (w *writable) follows(name string) bool {
	return slices.ContainsFunc(w.check.input.Files, func(r load.FileReport) bool { return r.Path == name && r.Followed })
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
