package report

import (
	"io"
	"strings"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
)

// Report is the content that a format writes.
type Report struct {
	*lint.Result
	Rules   []*lint.Rule  // that ran; SARIF describes them
	FailOn  lint.Severity // findings at or above it fail the run; 0: none does
	Version string        // of xdslint
	Color   bool
	Hidden  Hidden
	Files   Files
	Faulty  int // files without xDS that findings are about
}

// Files counts the files that were examined.
type Files struct {
	Read    int `json:"files"`
	Skipped int `json:"skipped"` // no xDS
}

// Counted counts the files of an input.
func Counted(files []load.FileReport) (n Files) {
	for _, f := range files {
		if f.As == "" {
			n.Skipped++
		} else {
			n.Read++
		}
	}
	return n
}

// Faulty counts the files that hold no xDS but have findings, such as a file that cannot be read.
func Faulty(files []load.FileReport, found []lint.Diagnostic) (n int) {
	about := map[string]bool{}
	for i := range found {
		about[found[i].Resource.File.Name] = true
	}
	for _, f := range files {
		if f.As == "" && about[f.Path] {
			n++
		}
	}
	return n
}

// Hidden counts the findings that are suppressed or in a baseline.
type Hidden struct {
	Suppressed int `json:"suppressed"` // by comments and by the configuration
	Baselined  int `json:"baselined"`
}

// Format is one way to write findings.
type Format struct {
	Name    string
	Summary string
	Write   func(w io.Writer, r *Report) error
}

// Formats lists all formats, in the order in which they are documented.
var Formats = []Format{
	{"text", "for people: each finding with its line, and what to do", func(w io.Writer, r *Report) error {
		return Text(w, r.Result, TextOptions{Color: r.Color, Summary: summary(r)})
	}},
	{"concise", "for people: one line a finding", Concise},
	{"json", "one JSON object; stable", JSON},
	{"jsonl", "one JSON object a line, a line a finding; stable", JSONL},
	{"sarif", "SARIF 2.1.0, for code scanning; stable", SARIF},
	{"github", "annotations of a GitHub workflow", GitHub},
	{"junit", "JUnit XML: a suite a file", JUnit},
	{"checkstyle", "Checkstyle XML", Checkstyle},
}

// Find returns the format with a name.
func Find(name string) (Format, bool) {
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Names lists the names of all formats.
func Names() []string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return names
}

// diagnostics returns the report's findings without secrets.
func (r *Report) diagnostics() []lint.Diagnostic { return Redacted(r.Result) }

// fails reports whether a finding makes the run fail.
func (r *Report) fails(d *lint.Diagnostic) bool { return r.FailOn != 0 && d.Severity >= r.FailOn }

// details returns a finding's message, notes and help, a line each.
func details(d *lint.Diagnostic, plane string) string {
	lines := append([]string{d.Message}, d.Notes...)
	if d.Upstream != "" {
		lines = append(lines, speaker(d, plane)+" says: "+d.Upstream)
	}
	if d.Help != "" {
		lines = append(lines, "help: "+d.Help)
	}
	return strings.Join(lines, "\n")
}
