// Package choice runs rules as somebody asked for: those that were chosen, for one target or for several, without what suppressions and the
// configuration hide.
package choice

import (
	"context"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
)

// Choice is what is settled before anything is read.
type Choice struct {
	Settings *config.Settings
	Known    []*lint.Rule       // all there are, those about suppressions too
	Rules    []*lint.Rule       // of these the ones that run
	Targets  []dataplane.Target // at least one
	Given    bool               // somebody named the targets
	Timings  bool
}

// New settles which rules run, and for whom. Selects and ignores are selectors of rules, targets are names; where none is named, those of the
// configuration count.
func New(s *config.Settings, known []*lint.Rule, selects, ignores, targets []string) (*Choice, error) {
	c := &Choice{Settings: s, Known: known}
	for _, selector := range slices.Concat(selects, ignores) {
		if err := config.CheckSelector(selector, known); err != nil {
			return nil, err
		}
	}
	for _, r := range known {
		switch {
		case len(selects) > 0 && !slices.ContainsFunc(selects, r.Match) && r != lint.CannotJudge, // which goes with every selection
			slices.ContainsFunc(ignores, r.Match),
			s.Severity(r) == config.Off:
		default:
			c.Rules = append(c.Rules, r)
		}
	}
	if len(targets) == 0 {
		targets = s.Targets
	}
	var err error
	c.Targets, c.Given, err = Targets(targets)
	return c, err
}

// Targets reads names; given tells whether there are any. Without, the default is judged for.
func Targets(names []string) (all []dataplane.Target, given bool, err error) {
	if len(names) == 0 {
		return []dataplane.Target{dataplane.Default()}, false, nil
	}
	for _, name := range names {
		t, err := dataplane.Parse(name)
		if err != nil {
			return nil, false, err
		}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all, true, nil
}

// Lint runs the rules for each target. A finding that several targets share is there once.
func (c *Choice) Lint(ctx context.Context, snapshots []*graph.Snapshot) *lint.Result {
	rules := slices.DeleteFunc(slices.Clone(c.Rules), func(r *lint.Rule) bool { return r.Group == suppress.Rules.Name })
	config := lint.Config{Rules: rules, Target: c.Targets[0], TargetGiven: c.Given, Timings: c.Timings}
	result := lint.Run(ctx, snapshots, config)
	if len(c.Targets) == 1 {
		return result
	}
	all := merged{result, c.Targets, map[finding][]dataplane.Target{}}
	for i := range result.Diagnostics {
		all.note(&result.Diagnostics[i], c.Targets[0])
	}
	for _, t := range c.Targets[1:] {
		config.Target = t
		all.add(lint.Run(ctx, snapshots, config), t)
	}
	all.tell()
	return result
}

// Hide takes away what suppressions and the configuration hide, adds what there is to say about the suppressions, and returns how many findings
// are gone. Whole: what was read is all that the configuration was written for, so an ignore in it that hides nothing is superfluous.
func (c *Choice) Hide(result *lint.Result, whole bool) (suppressed int) {
	override(result, c.Settings)
	suppressed = suppress.Apply(result, suppress.Options{
		Ran:   slices.DeleteFunc(slices.Clone(c.Rules), (*lint.Rule).Transitional),
		Known: c.Known, Ignores: c.Settings.Ignores, File: c.Settings.File, Whole: whole,
	})
	c.Finish(result)
	return suppressed
}

// Finish treats the findings about suppressions as the others: they have the severities of the configuration, and may not have been asked for.
func (c *Choice) Finish(result *lint.Result) {
	override(result, c.Settings)
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
		return (d.Rule.Group == suppress.Rules.Name || d.Rule == lint.CannotJudge) && !slices.Contains(c.Rules, d.Rule)
	})
}

// Wanted leaves out of findings that others made, such as a plan's, what suppressions and the configuration do not want to hear of.
func Wanted(result *lint.Result, s *config.Settings, known []*lint.Rule) *lint.Result {
	suppress.Apply(result, suppress.Options{Known: known, Ignores: s.Ignores, File: s.File})
	override(result, s)
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
		return d.Rule.Group == suppress.Rules.Name || s.Severity(d.Rule) == config.Off
	})
	return result
}

// override gives findings the severities of the configuration.
func override(result *lint.Result, s *config.Settings) {
	if len(s.Severities) == 0 {
		return
	}
	for i := range result.Diagnostics {
		d := &result.Diagnostics[i]
		if severity, err := lint.ParseSeverity(s.Severity(d.Rule)); err == nil {
			d.Severity = severity
		}
	}
}
