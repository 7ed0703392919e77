package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/words"
)

type fixFlags struct {
	fix, unsafe, diff bool
}

func (f *fixFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.fix, "fix", false, "apply the fixes that are certain to the files; report only the remaining findings")
	flags.BoolVar(&f.unsafe, "unsafe-fixes", false, "with --fix or --diff: include fixes that are likely but not certain")
	flags.BoolVar(&f.diff, "diff", false, "show what --fix would change, without changing it; exit with status 1 if there are changes")
}

// checkFix rejects flags that cannot be combined.
func (f *lintFlags) checkFix(cmd *cobra.Command) error {
	fixes := f.fix || f.diff
	switch {
	case f.unsafe && !fixes:
		return errors.New("--unsafe-fixes needs --fix or --diff")
	case f.diff && (cmd.Flags().Changed("format") || len(f.outputs) > 0):
		return errors.New("--diff shows no findings: remove --format and --output")
	case fixes && f.configYAML != "":
		return errors.New("files cannot be fixed with --config-yaml: remove it")
	}
	return nil
}

// sayFixes reports what was fixed, and what could be.
func (f *lintFlags) sayFixes(stderr io.Writer, found *found) {
	fixed := found.fixed
	safe, unsafe, kept := found.report.Fixable()
	var parts []string
	if fixed != nil && fixed.Applied > 0 {
		done := "fixed"
		if f.diff {
			done = "--fix would fix"
		}
		parts = append(parts, fmt.Sprintf("%s %s in %s", done, number(fixed.Applied, "finding"), number(len(fixed.Files), "file")))
	}
	more := ""
	if len(parts) > 0 {
		more = " more"
	}
	switch {
	case fixed != nil && unsafe > 0 && !f.unsafe:
		parts = append(parts, fmt.Sprintf("%d%s can be fixed with --unsafe-fixes", unsafe, more))
	case fixed == nil && safe > 0 && unsafe > 0:
		parts = append(parts, fmt.Sprintf("%d can be fixed with --fix, %d more with --unsafe-fixes", safe, unsafe))
	case fixed == nil && safe > 0:
		parts = append(parts, fmt.Sprintf("%d can be fixed with --fix", safe))
	case fixed == nil && unsafe > 0:
		parts = append(parts, fmt.Sprintf("%d can be fixed with --fix --unsafe-fixes", unsafe))
	}
	if len(parts) > 0 {
		fmt.Fprintln(stderr, strings.Join(parts, "; "))
	}
	if fixed != nil {
		sayKept(stderr, found.report, kept)
	}
}

// sayKept reports the files that have fixes and are left alone.
func sayKept(stderr io.Writer, r *xdslint.Report, kept []string) {
	var followed, outside []string
	for _, f := range r.Files {
		switch {
		case !slices.Contains(kept, f.Path):
		case f.Followed:
			followed = append(followed, words.Name(f.Path))
		default:
			outside = append(outside, words.Name(f.Path))
		}
	}
	if len(followed) > 0 {
		fmt.Fprintf(stderr, "not fixed, because only a bootstrap names it: %s\n", strings.Join(followed, ", "))
	}
	if len(outside) > 0 {
		fmt.Fprintf(stderr, "not fixed, because it is outside of the folder that was named: %s\n", strings.Join(outside, ", "))
	}
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
