package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

type lintFlags struct {
	checkFlags
	fixFlags
	format              string
	outputs             []string
	failOn              string
	statistics, timings bool
	again               bool                  // --watch
	session             xdslint.Session       // of --watch
	seen                func(*xdslint.Report) // nil, or called with each report
}

func newLint(use string) *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use: use, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.again {
				return f.watch(cmd, args)
			}
			return f.run(cmd, args)
		},
	}
	f.checkFlags.add(cmd)
	f.addRecording(cmd.Flags())
	flags := cmd.Flags()
	flags.SortFlags = false
	f.addOutput(cmd)
	grouped(flags, outputGroup, func() {
		flags.BoolVar(&f.statistics, "statistics", false, "print counts of files and references, and which references were not checked")
		flags.BoolVar(&f.again, "watch", false, "lint again whenever a file changes, until Ctrl-C")
		flags.BoolVar(&f.timings, "timings", false, "print how long each step and rule took")
	})
	grouped(flags, fixGroup, func() { f.fixFlags.add(flags) })
	return cmd
}

// addOutput adds the flags about the output of findings.
func (f *lintFlags) addOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.format, "format", "text", "`FORMAT` of the findings: "+strings.Join(report.Names(), ", "))
		flags.StringArrayVar(&f.outputs, "output", nil, "also write findings to a file, as `FORMAT=FILE`; can be repeated")
		flags.StringVar(&f.failOn, "fail-on", "", "exit with status 1 on findings of at least this `SEVERITY`: error, warning, info, never (default error)")
	})
	complete(cmd, "format", report.Names())
	complete(cmd, "fail-on", []string{"error", "warning", "info", "never"})
}

func complete(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// output is a file to which findings are written.
type output struct {
	format report.Format
	file   string
}

func (f *lintFlags) parseOutputs() (stdout report.Format, files []output, err error) {
	if stdout, err = findFormat(f.format); err != nil {
		return stdout, nil, err
	}
	for _, text := range f.outputs {
		name, file, ok := strings.Cut(text, "=")
		if !ok || file == "" {
			return stdout, nil, fmt.Errorf("--output %s: write FORMAT=FILE, such as sarif=xdslint.sarif", text)
		}
		if file == "-" {
			return stdout, nil, fmt.Errorf("--output %s: use --format %s for standard output", text, name)
		}
		format, err := findFormat(name)
		if err != nil {
			return stdout, nil, err
		}
		files = append(files, output{format, file})
	}
	return stdout, files, nil
}

func findFormat(name string) (report.Format, error) {
	format, ok := report.Find(name)
	if !ok {
		return format, unknownFormat(name, report.Names())
	}
	return format, nil
}

// options translates the flags into options of a linter.
func (f *lintFlags) options(s *xdslint.Config) (xdslint.Options, error) {
	o, err := f.checkFlags.options(s)
	if err != nil {
		return o, err
	}
	if f.failOn != "" {
		if _, err := config.ParseFailOn(f.failOn); err != nil {
			return o, fmt.Errorf("--fail-on: %w", err)
		}
	}
	o.FailOn, o.Timings = f.failOn, f.timings
	if path := f.baselinePath(s); path != "" {
		o.Baseline, err = xdslint.ReadBaseline(path)
	}
	return o, err
}

func (f *lintFlags) run(cmd *cobra.Command, args []string) error {
	o, err := settings(cmd.Context(), f)
	if err != nil {
		return err
	}
	in, err := input(cmd, args, o.Config)
	if err != nil {
		return err
	}
	return f.judge(cmd, o, in)
}

// judge lints, fixes and reports. Its error determines the exit status.
func (f *lintFlags) judge(cmd *cobra.Command, o xdslint.Options, in xdslint.Input) error {
	stdout, files, err := f.parseOutputs()
	if err != nil {
		return err
	}
	if err := f.checkFix(cmd); err != nil {
		return err
	}
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	found, err := f.find(ctx, stderr, o, in)
	if err != nil {
		return err
	}
	if f.diff {
		return f.showDiff(cmd, found)
	}

	began := time.Now()
	r := found.report
	if f.seen != nil {
		f.seen(r)
	}
	if err := write(cmd.OutOrStdout(), stdout, files, r); err != nil {
		return failed(err)
	}
	r.Stages = append(r.Stages, xdslint.Stage{Name: "report", Took: time.Since(began)})
	f.extras(stderr, r)
	if found.failure == nil && (f.fix || stdout.Name == "text") {
		f.sayFixes(stderr, found)
	}

	switch {
	case found.failure != nil:
		return found.failure
	case ctx.Err() != nil:
		return failed(errors.New("interrupted: the findings are incomplete"))
	case ruleFailures(stderr, r.Result):
		return failed(errors.New(""))
	case r.Failed():
		return &status{statusFindings, nil}
	}
	return nil
}

// found is the result of linting or fixing an input.
type found struct {
	report  *xdslint.Report
	fixed   *xdslint.Fixed // nil without --fix and --diff
	failure error          // of writing some of the fixed files
}

// find runs the rules; with --fix or --diff it repeats that until nothing is left to fix. With --fix it writes the fixed files. After an
// interruption it returns what was found until then.
func (f *lintFlags) find(ctx context.Context, stderr io.Writer, o xdslint.Options, in xdslint.Input) (out *found, err error) {
	l, p, err := newLinter(stderr, o)
	if err != nil {
		return nil, err
	}
	defer p.start().stop()
	out = &found{}
	if !f.fix && !f.diff {
		lint := l.Lint
		if f.again {
			lint = func(ctx context.Context, in xdslint.Input) (*xdslint.Report, error) {
				return f.session.Lint(ctx, l, in)
			}
		}
		if out.report, err = lint(ctx, in); out.report == nil {
			return nil, err
		}
		return out, f.checkRecording(out.report.Files)
	}
	if out.fixed, err = l.Fix(ctx, in, f.unsafe); out.fixed == nil {
		return nil, err
	}
	out.report = out.fixed.After
	if err := f.checkRecording(out.report.Files); err != nil {
		return nil, err
	}
	if f.fix && !f.diff && ctx.Err() == nil {
		if out.failure = failed(out.fixed.Write()); out.failure != nil {
			out.report, err = l.Lint(ctx, in) // of what is in the files now
		}
	}
	return out, err
}

func write(stdout io.Writer, format report.Format, files []output, r *xdslint.Report) error {
	for _, out := range files {
		if err := writeFile(out, r); err != nil {
			return err
		}
	}
	colored := *r
	// package color considers NO_COLOR and whether standard output is a terminal
	colored.Color = !color.NoColor
	return colored.Write(stdout, format.Name)
}

func writeFile(out output, r *xdslint.Report) error {
	f, err := os.Create(out.file)
	if err != nil {
		return err
	}
	return errors.Join(r.Write(f, out.format.Name), f.Close())
}

// extras writes to standard error: standard output holds only the report.
func (f *lintFlags) extras(w io.Writer, r *xdslint.Report) {
	files := r.Summary()
	if !unjudged(w, r) && files.Read == 0 && files.Skipped > 0 && len(r.Diagnostics) == 0 {
		fmt.Fprintln(w, "xdslint: none of these files is xDS; --show-files shows why")
	}
	if files.Read+files.Skipped == 0 && len(r.Diagnostics) == 0 {
		fmt.Fprintln(w, "xdslint: "+noFiles)
	}
	if len(r.Unread) > 0 {
		fmt.Fprintf(w, "xdslint: certificates and keys were not checked, because they are not on this machine: %s; --root DIR says where they are\n", some(r.Unread))
	}
	if f.showFiles {
		showFiles(w, r.Files)
	}
	if f.statistics {
		statistics(w, r)
	}
	if f.timings {
		timings(w, r)
	}
}

// noFiles is said of folders without files that could be read.
const noFiles = "there is nothing to check: in a folder, files are read by their extension, such as .yaml, .json, .pb_text and .pb"

// some lists a few names, and says how many more there are.
func some(names []string) string {
	const most = 3
	quoted := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, words.Name(name))
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// unjudged prints the files in which nothing was checked: those that paths name, such as Kubernetes objects without xDS, and
// those that hold something of Envoy all the same. That is not an error, since hooks name every file that changed, but it
// must not look as if the files had been checked. It reports whether there are any.
func unjudged(w io.Writer, r *xdslint.Report) bool {
	const most = 5
	reported := map[string]bool{}
	for i := range r.Diagnostics {
		reported[r.Diagnostics[i].Resource.File.Name] = true
	}
	var skipped []load.FileReport
	for _, f := range r.Files {
		if (f.Named || f.Marked) && f.As == "" && !reported[f.Path] {
			skipped = append(skipped, f)
		}
	}
	for i, f := range skipped {
		if i == most {
			fmt.Fprintf(w, "xdslint: %s more were not checked; --show-files shows why\n", words.Count(len(skipped)-most, "file"))
			break
		}
		fmt.Fprintf(w, "xdslint: %s was not checked: %s\n", words.Name(f.Path), f.Why)
	}
	return len(skipped) > 0
}

// ruleFailures prints the failures of rules, and reports whether there are any.
func ruleFailures(w io.Writer, result *lint.Result) bool {
	for _, f := range result.Failures {
		fmt.Fprintf(w, "xdslint: %s\n%s", f, f.Stack)
	}
	if len(result.Failures) > 0 {
		fmt.Fprintln(w, "xdslint: this is a bug in xdslint; the other rules ran, their findings are above")
	}
	return len(result.Failures) > 0
}
