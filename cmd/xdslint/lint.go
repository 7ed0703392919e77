package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

type lintFlags struct {
	checkFlags
	fixFlags
	format              string
	outputs             []string
	failOn              string
	statistics, timings bool
}

func newLint(use string) *cobra.Command {
	f := &lintFlags{}
	cmd := &cobra.Command{
		Use: use, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.checkFlags.add(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.format, "format", "text", "`FORMAT` of the findings: "+strings.Join(report.Names(), ", "))
	flags.StringArrayVar(&f.outputs, "output", nil, "write findings to a file too, as `FORMAT=FILE`; can be repeated")
	flags.StringVar(&f.failOn, "fail-on", "", "lowest `SEVERITY` that gives exit status 1: error, warning, info, never (default error)")
	f.fixFlags.add(flags)
	flags.BoolVar(&f.statistics, "statistics", false, "say what was read, and which references were not checked")
	flags.BoolVar(&f.timings, "timings", false, "say where the time went")
	complete(cmd, "format", report.Names())
	complete(cmd, "fail-on", []string{"error", "warning", "info", "never"})
	return cmd
}

func complete(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// output is one place where findings go.
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
			return stdout, nil, fmt.Errorf("--output %s: standard output has the format of --format %s", text, name)
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
		near := lint.DidYouMean(name, report.Names())
		if near == "" {
			near = ": " + strings.Join(report.Names(), ", ")
		}
		return format, fmt.Errorf("no format is named %q%s", name, near)
	}
	return format, nil
}

// lowest is the severity that fails the run.
func (f *lintFlags) lowest(s *config.Settings) (lint.Severity, error) {
	text := f.failOn
	if text == "" {
		text = s.FailOn
	}
	if text == "" {
		return lint.Error, nil
	}
	severity, err := config.ParseFailOn(text)
	if err != nil {
		return 0, fmt.Errorf("--fail-on: %w", err)
	}
	return severity, nil
}

func (f *lintFlags) run(cmd *cobra.Command, args []string) error {
	c, err := newCheck(cmd, &f.checkFlags, args)
	if err != nil {
		return err
	}
	return f.finish(cmd, c)
}

// finish judges, reports and says how the process ends.
func (f *lintFlags) finish(cmd *cobra.Command, c *check) error {
	stdout, files, err := f.parseOutputs()
	if err != nil {
		return err
	}
	if err := f.checkFix(cmd); err != nil {
		return err
	}
	lowest, err := f.lowest(c.Settings)
	if err != nil {
		return err
	}
	c.Timings = f.timings
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	fixed, err := f.judge(ctx, c, stderr)
	if err != nil {
		return err
	}
	if f.diff {
		return f.showDiff(cmd, c, fixed)
	}

	began := time.Now()
	r := &report.Report{
		Result: c.result, Rules: c.Rules, FailOn: lowest, Version: xdslint.Version(), Hidden: c.hidden, Files: c.files(), Help: explain.Help,
	}
	if err := write(cmd.OutOrStdout(), stdout, files, r); err != nil {
		return failed(err)
	}
	c.time("report", began)
	f.extras(stderr, c)
	if fixed.failure == nil && c.sent == nil && (f.fix || stdout.Name == "text") {
		f.sayFixes(stderr, c, fixed)
	}

	switch {
	case fixed.failure != nil:
		return fixed.failure
	case ctx.Err() != nil:
		return failed(errors.New("interrupted: these findings are not all"))
	case c.failures(stderr):
		return failed(errors.New(""))
	case lowest != 0 && slices.ContainsFunc(c.result.Diagnostics, func(d lint.Diagnostic) bool { return d.Severity >= lowest }):
		return &status{statusFindings, nil}
	}
	return nil
}

func write(stdout io.Writer, format report.Format, files []output, r *report.Report) error {
	for _, out := range files {
		if err := writeFile(out, r); err != nil {
			return err
		}
	}
	colored := *r
	// color knows whether standard output is a terminal, and NO_COLOR.
	colored.Color = !color.NoColor
	return format.Write(stdout, &colored)
}

func writeFile(out output, r *report.Report) error {
	f, err := os.Create(out.file)
	if err != nil {
		return err
	}
	return errors.Join(out.format.Write(f, r), f.Close())
}

// extras go to standard error: standard output is the report alone.
func (f *lintFlags) extras(w io.Writer, c *check) {
	files := c.files()
	if files.Read == 0 && files.Skipped > 0 && len(c.result.Diagnostics) == 0 {
		fmt.Fprintln(w, "xdslint: none of these files is xDS; --show-files says why")
	}
	if f.showFiles {
		showFiles(w, c.input)
	}
	if f.statistics {
		statistics(w, c)
	}
	if f.timings {
		timings(w, c)
	}
}
