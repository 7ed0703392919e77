package xdslint

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/baseline"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// Report is the result of linting an input.
type Report struct {
	*lint.Result // Diagnostics without secrets, Failures (rules that panicked), Snapshots, Timings

	Rules      []*lint.Rule // that ran
	FailOn     lint.Severity
	Suppressed int               // findings that comments and the configuration hide
	Baselined  int               // findings that the baseline hides
	Files      []load.FileReport // each file, and how it was read
	Unread     []string          // files with certificates and keys that the input names, and that are not on this machine
	Stages     []Stage           // durations of the stages
	Color      bool              // of the format text

	found *lint.Result // with secrets
	names []string     // of the input
	fixes bool         // its files can be fixed
}

// Summary counts what a report holds.
type Summary = report.Summary

// files returns how the files were read. If no target is gRPC, nothing judges a bootstrap of gRPC.
func (r *run) files() []load.FileReport {
	files := slices.Clone(r.loaded.Files)
	if slices.ContainsFunc(r.targets, func(t dataplane.Target) bool { return t.Family() == dataplane.GRPC }) {
		return files
	}
	for i := range files {
		if f := &files[i]; f.As == load.GRPCBootstrap {
			f.As, f.Why, f.Marked = "", "it is a bootstrap of gRPC, which --target grpc-go judges", true
		}
	}
	return files
}

func (r *run) report() *Report {
	_, before := r.input.origin.(loaded) // it was read before, and may never have been a file
	return &Report{
		Result: report.Clean(r.Result), Rules: r.rules, FailOn: r.failOn, Suppressed: r.suppressed, Baselined: r.baselined,
		Files: r.files(), Unread: r.loaded.Unread, Stages: r.times, found: r.Result, names: r.input.names(r.Linter), fixes: !before,
	}
}

// Failed reports whether there is a finding at or above FailOn.
func (r *Report) Failed() bool {
	return r.FailOn != 0 && slices.ContainsFunc(r.Diagnostics, func(d lint.Diagnostic) bool { return d.Severity >= r.FailOn })
}

// Write writes the report in a format of the command's --format: text, concise, json, jsonl, sarif, github, junit, checkstyle.
func (r *Report) Write(w io.Writer, format string) error {
	f, ok := report.Find(format)
	if !ok {
		return fmt.Errorf("no format is named %q", format)
	}
	return f.Write(w, r.shape())
}

// Summary returns the counts of a report: findings, files and so on.
func (r *Report) Summary() Summary { return r.shape().Summary() }

// shape is the report as the formats know it.
func (r *Report) shape() *report.Report {
	return &report.Report{
		Result: r.Result, Rules: r.Rules, FailOn: r.FailOn, Version: Version(), Color: r.Color,
		Hidden: report.Hidden{Suppressed: r.Suppressed, Baselined: r.Baselined}, Files: report.Counted(r.Files), Faulty: report.Faulty(r.Files, r.Diagnostics),
	}
}

// Baseline returns a baseline with the findings of the report. Its file names are relative to the folder of path, where it is to be saved.
func (r *Report) Baseline(path string) *Baseline {
	return baseline.Of(r.Diagnostics, relativeTo(filepath.Dir(path), r.names))
}

// Fixable counts the findings that Fix can fix: those that have one right answer, and those that have a likely one. More could be fixed in
// files that only a bootstrap names, or that are outside of the folders that the input names.
func (r *Report) Fixable() (safe, unsafe int, more []string) {
	if !r.fixes {
		return 0, 0, nil
	}
	for i := range r.found.Diagnostics {
		d := &r.found.Diagnostics[i]
		name := d.Resource.File.Name
		kept := slices.ContainsFunc(r.Files, func(f load.FileReport) bool { return f.Path == name && (f.Followed || f.Outside) })
		switch {
		case fix.Of(d, true) == nil:
		case !kept && fix.Of(d, false) != nil:
			safe++
		case !kept:
			unsafe++
		case !slices.Contains(more, name):
			more = append(more, name)
		}
	}
	return safe, unsafe, more
}
