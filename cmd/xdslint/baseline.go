package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/baseline"
	"github.com/xdslint/xdslint/internal/words"
)

func newBaseline() *cobra.Command {
	return parent(&cobra.Command{
		Use: "baseline", Short: "Record existing findings and report only new ones",
		Long: `A baseline records the existing findings in ` + baseline.FileName + `; xdslint then reports only new ones.
Entries are keyed by rule, resource and field: a finding whose lines move stays hidden.`,
	},
		baselineCommand("write PATH…", "Record all current findings", writeBaseline),
		baselineCommand("prune PATH…", "Remove findings that no longer occur", pruneBaseline),
	)
}

func baselineCommand(use, short string, do func(*cobra.Command, baselinePlace, *xdslint.Report) error) *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true,
		Long: short + ".\n\nExit status: 0 done, 2 the command line or the configuration is wrong, 3 xdslint failed.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := settings(cmd.Context(), f)
			if err != nil {
				return err
			}
			r, err := judged(cmd, args, o)
			if err != nil {
				return err
			}
			// An incomplete result must not replace the baseline.
			if cmd.Context().Err() != nil {
				return failed(errors.New("interrupted: the baseline is unchanged"))
			}
			if ruleFailures(cmd.ErrOrStderr(), r.Result) {
				return failed(errors.New("the baseline is unchanged"))
			}
			return do(cmd, baselinePlace{f.baselinePath(o.Config), baselineNextTo(o.Config)}, r)
		},
	}
	f.add(cmd)
	return cmd
}

// judged runs the rules as the command lint does without a baseline.
func judged(cmd *cobra.Command, args []string, o xdslint.Options) (*xdslint.Report, error) {
	l, p, in, err := prepared(cmd, args, o)
	if err != nil {
		return nil, err
	}
	defer p.start().stop()
	r, err := l.Lint(cmd.Context(), in)
	if r == nil {
		return nil, err
	}
	return r, nil
}

// baselinePlace holds the path of the existing baseline, empty if there is none, and the path for a new one.
type baselinePlace struct{ existing, created string }

// baselineNextTo returns the path of the baseline that belongs to a configuration, whether or not it exists.
func baselineNextTo(s *xdslint.Config) string {
	if s.File == nil {
		return baseline.FileName
	}
	return filepath.Join(filepath.Dir(s.File.Name), baseline.FileName)
}

// baselinePath returns the path of the baseline: next to the configuration, or without one in this folder or above. It is empty if
// there is none.
func (f *checkFlags) baselinePath(s *xdslint.Config) string {
	switch path := baselineNextTo(s); {
	case f.noConfig:
		return ""
	case s.File == nil:
		return findUp(baseline.FileName)
	case exists(path):
		return path
	}
	return ""
}

func writeBaseline(cmd *cobra.Command, at baselinePlace, r *xdslint.Report) error {
	path := cmp.Or(at.existing, at.created)
	if err := saveBaseline(path, r.Baseline(path)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, words.Count(r.Baseline(path).Size(), "finding"))
	return failed(err)
}

func pruneBaseline(cmd *cobra.Command, at baselinePlace, r *xdslint.Report) error {
	path := at.existing
	if path == "" {
		return fmt.Errorf("there is no %s; xdslint baseline write creates one", baseline.FileName)
	}
	b, err := xdslint.ReadBaseline(path)
	if err != nil {
		return err
	}
	pruned := b.Prune(r.Diagnostics)
	if pruned > 0 {
		if err := saveBaseline(path, b); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s removed, %s left\n", path, words.Count(pruned, "finding"), words.Count(b.Size(), "finding"))
	return failed(err)
}

func saveBaseline(path string, b *xdslint.Baseline) error {
	if err := leavesFolder(path); err != nil {
		return failed(err)
	}
	f, err := os.Create(path)
	if err != nil {
		return failed(err)
	}
	return failed(errors.Join(b.Write(f), f.Close()))
}

// leavesFolder returns an error if a file is a link to a place that is not below its folder: a stranger may have made it.
func leavesFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Rel(load.RealPath(filepath.Dir(path)), load.RealPath(real))
	}
	if err != nil || !filepath.IsLocal(real) {
		return fmt.Errorf("%s is a link out of its folder: nothing is written", path)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
