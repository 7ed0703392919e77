package suppress

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// Rules are the findings about suppressions themselves.
var Rules = &lint.Group{Name: "suppress", Summary: "suppressions that hide nothing or have no reason"}

// The rules of the group have no Run: Apply creates their findings.
var (
	Unused = Rules.Add(&lint.Rule{
		Name:     "unused",
		Severity: lint.Warning,
		Summary:  "a suppression hides no finding",
		Run:      nothing,
	})
	Malformed = Rules.Add(&lint.Rule{
		Name:     "malformed",
		Severity: lint.Warning,
		Summary:  "a suppression comment is malformed",
		Run:      nothing,
	})
	NoReason = Rules.Add(&lint.Rule{
		Name:     "no-reason",
		Severity: lint.Info,
		Summary:  "a suppression has no reason",
		Run:      nothing,
	})
	StaleBaseline = Rules.Add(&lint.Rule{
		Name:     "stale-baseline",
		Severity: lint.Info,
		Summary:  "an entry of the baseline no longer occurs",
		Why:      "The mistake has been fixed. `xdslint baseline prune` removes such entries, so that the same mistake is reported if it returns.",
		Run:      nothing,
	})
)

var nothing = lint.ForSnapshot(func(*lint.Pass) {})

// Options of Apply.
type Options struct {
	Ran     []*lint.Rule // whose findings the result can contain: a suppression of another rule is not reported as unused
	Known   []*lint.Rule // all rules
	Ignores []Ignore     // of the configuration
	File    *source.File // that the ignores are from
	// Whole: the run covers all that the ignores were written for, so those that hide nothing are reported.
	Whole bool
}

// Apply removes the suppressed findings from a result, adds those about the suppressions, and returns how many were removed.
func Apply(result *lint.Result, opts Options) int {
	comments := collect(result, opts.Known)
	used := make([]bool, len(opts.Ignores))
	hidden, whole := 0, wholly(result, opts.Ran)
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
		hide := comments.hide(&d)
		for i := range opts.Ignores {
			if opts.Ignores[i].Match(&d) {
				used[i], hide = true, true
			}
		}
		if hide {
			hidden += d.Count()
		}
		return hide
	})
	result.Diagnostics = append(result.Diagnostics, comments.report(whole)...)
	for i := range opts.Ignores {
		if ignore := &opts.Ignores[i]; opts.Whole && !used[i] && ran(ignore.Rule, whole) {
			result.Diagnostics = append(result.Diagnostics, about(Unused, opts.File, ignore.Span,
				fmt.Sprintf("this ignore hides nothing: %s is not found there", ignore.Rule)))
		}
	}
	lint.Sort(result.Diagnostics)
	return hidden
}

// wholly returns the rules whose findings are all known: where some are left out, a suppression may hide one of these.
func wholly(result *lint.Result, rules []*lint.Rule) []*lint.Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *lint.Rule) bool {
		return slices.ContainsFunc(result.Diagnostics, func(d lint.Diagnostic) bool { return d.More > 0 && d.Rule == r })
	})
}

// about creates a finding about a place in a file, without a resource.
func about(rule *lint.Rule, f *source.File, span source.Span, message string) lint.Diagnostic {
	return lint.Diagnostic{
		Rule: rule, Severity: rule.Severity, Message: message, Span: span,
		Resource: &graph.Resource{Kind: graph.File, Name: f.Name, File: f},
	}
}

// ran reports whether a selector matches a rule that ran.
func ran(selector string, rules []*lint.Rule) bool {
	return slices.ContainsFunc(rules, func(r *lint.Rule) bool { return r.Match(selector) })
}
