package report

import (
	"iter"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Hides returns a function that reports whether a line of a result's file has a secret, and so must not be shown. Lines count from 1.
func Hides(result *lint.Result) func(f *source.File, line int) bool {
	secrets, files := secretsIn(result), map[*source.File]*redact.File{}
	return func(f *source.File, line int) bool {
		if files[f] == nil {
			files[f] = secrets.Whole(f)
		}
		text, start := f.Line(line)
		return files[f].Hides(text, start)
	}
}

func secretsIn(result *lint.Result) *redact.Files {
	if result.Secrets != nil {
		return result.Secrets
	}
	return redact.NewFiles(resources(result))
}

// Clean returns a result whose findings show no secrets.
func Clean(result *lint.Result) *lint.Result {
	clean := *result
	clean.Secrets = secretsIn(result)
	clean.Diagnostics = redacted(result, clean.Secrets)
	return &clean
}

// resources returns the judged resources, and those that only a finding refers to.
func resources(result *lint.Result) iter.Seq[*graph.Resource] {
	return func(yield func(*graph.Resource) bool) {
		for _, snapshot := range result.Snapshots {
			for _, r := range snapshot.Resources {
				if !yield(r) {
					return
				}
			}
		}
		for i := range result.Diagnostics {
			if !yield(result.Diagnostics[i].Resource) {
				return
			}
			for _, r := range result.Diagnostics[i].Related {
				if !yield(r.Resource) {
					return
				}
			}
		}
	}
}

// Redacted returns a result's findings without the secrets that their texts may quote.
func Redacted(result *lint.Result) []lint.Diagnostic {
	if len(result.Diagnostics) == 0 {
		return nil // nothing will be shown
	}
	return redacted(result, secretsIn(result))
}

// redacted removes what a terminal could read as a command, too: data planes and custom rules quote texts of strangers.
func redacted(result *lint.Result, secrets *redact.Files) []lint.Diagnostic {
	if result.Secrets != nil { // it is Clean
		return result.Diagnostics
	}
	all := slices.Clone(result.Diagnostics)
	for i := range all {
		d := &all[i]
		hide := textsOf(d, secrets)
		clean := func(s string) string { return words.Printable(hide(s)) }
		if d.Resource.Object.Secret() && d.Upstream != "" { // the data plane's own words may quote a value anywhere
			d.Message, d.Upstream = strings.ReplaceAll(d.Message, d.Upstream, redact.InReports), ""
		}
		d.Message, d.Help, d.Upstream = clean(d.Message), clean(d.Help), clean(d.Upstream)
		d.Notes = slices.Clone(d.Notes)
		for j := range d.Notes {
			d.Notes[j] = clean(d.Notes[j])
		}
		d.Related = slices.Clone(d.Related)
		for j := range d.Related {
			d.Related[j].Message = clean(d.Related[j].Message)
		}
		d.Fixes = slices.DeleteFunc(slices.Clone(d.Fixes), func(fix lint.Fix) bool {
			return slices.ContainsFunc(fix.Edits, func(e lint.Edit) bool { return hide(e.New) != e.New })
		})
		for j := range d.Fixes {
			d.Fixes[j].Message = clean(d.Fixes[j].Message)
		}
	}
	return all
}

// textsOf returns a function that removes secrets from the texts of a finding: those of all files that the finding is about.
func textsOf(d *lint.Diagnostic, secrets *redact.Files) func(string) string {
	if d.Rule.Origin != nil || d.Rule == lint.CannotJudge { // the rule may say what it likes
		return secrets.All().Text
	}
	files := []*redact.File{secrets.Of(d.Resource.File)}
	for _, r := range d.Related {
		if f := secrets.Of(r.Resource.File); !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return func(text string) string {
		for _, f := range files {
			text = f.Text(text)
		}
		return text
	}
}
