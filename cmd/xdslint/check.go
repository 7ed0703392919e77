package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/baseline"
	"github.com/xdslint/xdslint/lint/report"
	"github.com/xdslint/xdslint/lint/settings"
	"github.com/xdslint/xdslint/lint/suppress"
	"github.com/xdslint/xdslint/lint/target"
)

// checkFlags are those of all commands that run the rules.
type checkFlags struct {
	inputFlags
	selects, ignores []string
	targets          []string
}

func (f *checkFlags) add(cmd *cobra.Command) {
	f.inputFlags.add(cmd)
	f.addRules(cmd)
}

// addRules adds the flags about which rules run, and for whom.
func (f *checkFlags) addRules(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.selects, "select", nil, "run only these `RULE`s: ids, groups, globs over ids")
	flags.StringSliceVar(&f.ignores, "ignore", nil, "do not run these `RULE`s")
	flags.StringSliceVar(&f.targets, "target", nil, "data plane to judge for, as `PLANE:VERSION` (default "+target.Default().String()+")")
	completeWith(cmd, "select", ruleIDs)
	completeWith(cmd, "ignore", ruleIDs)
	completeWith(cmd, "target", targetNames)
}

func targetNames() (names []string) {
	for _, t := range target.All() {
		names = append(names, t.String())
	}
	return names
}

// check is one run of the rules, before anything is written.
type check struct {
	flags    *checkFlags
	settings *settings.Settings
	paths    []string
	explicit bool // the command line named the paths
	rules    []*lint.Rule
	targets  []target.Target
	given    bool
	timings  bool
	options  load.Options
	texts    map[string][]byte     // fixed ones, in place of those on disk
	sent     map[string][]byte     // all that is read, in place of the paths: by a client, or by a server that was asked
	declare  func(*graph.Snapshot) // what is known of the world around what was sent; nil: nothing

	input  *load.Input
	result *lint.Result
	hidden report.Hidden
	times  []timing
}

type timing struct {
	what string
	took time.Duration
}

func (c *check) time(what string, since time.Time) {
	c.times = append(c.times, timing{what, time.Since(since)})
}

// newCheck settles all that the command line and the configuration say.
func newCheck(cmd *cobra.Command, f *checkFlags, args []string) (*check, error) {
	s, err := f.settings()
	if err != nil {
		return nil, err
	}
	paths, err := f.paths(args, s)
	if err != nil {
		return nil, err
	}
	if err := checkPaths(cmd, paths); err != nil {
		return nil, err
	}
	c, err := f.check(s)
	if err != nil {
		return nil, err
	}
	c.paths, c.explicit = paths, len(args) > 0
	return c, nil
}

// check settles what does not depend on what is read.
func (f *checkFlags) check(s *settings.Settings) (*check, error) {
	c := &check{flags: f, settings: s}
	var err error
	if c.rules, err = c.chosen(); err != nil {
		return nil, err
	}
	if c.targets, c.given, err = targets(f.targets, s); err != nil {
		return nil, err
	}
	c.options, err = f.options(s)
	return c, err
}

// of is the same check of texts that somebody sent.
func (c *check) of(texts map[string][]byte) *check {
	sent := *c
	sent.sent, sent.explicit = texts, true
	return &sent
}

// chosen are the rules that run.
func (c *check) chosen() ([]*lint.Rule, error) {
	known := allRules()
	for _, selector := range slices.Concat(c.flags.selects, c.flags.ignores) {
		if err := settings.CheckSelector(selector, known); err != nil {
			return nil, err
		}
	}
	matches := func(r *lint.Rule) func(string) bool { return r.Match }
	var chosen []*lint.Rule
	for _, r := range known {
		switch {
		case len(c.flags.selects) > 0 && !slices.ContainsFunc(c.flags.selects, matches(r)),
			slices.ContainsFunc(c.flags.ignores, matches(r)),
			c.settings.Severity(r) == settings.Off:
		default:
			chosen = append(chosen, r)
		}
	}
	return chosen, nil
}

// run loads, runs the rules and takes suppressed findings away. When the context ends, the result is what there is so far.
func (c *check) run(ctx context.Context, stderr io.Writer) error {
	progress := startProgress(stderr)
	defer progress.stop()
	opts := c.options
	opts.Progress, opts.Texts = progress.reading, c.texts
	began := time.Now()
	var err error
	c.input, err = c.read(ctx, opts)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if c.input == nil {
		c.input = &load.Input{}
	}
	c.time("read and decode", began)
	progress.checking(c.input)

	began = time.Now()
	builtIn := slices.DeleteFunc(slices.Clone(c.rules), func(r *lint.Rule) bool { return r.Group == suppress.Rules.Name })
	c.result = c.lint(ctx, builtIn)
	c.time("rules", began)

	began = time.Now()
	override(c.result, c.settings)
	c.hidden.Suppressed = suppress.Apply(c.result, suppress.Options{
		Ran:   slices.DeleteFunc(slices.Clone(c.rules), (*lint.Rule).Transitional),
		Known: allRules(), Ignores: c.settings.Ignores, File: c.settings.File, Whole: !c.explicit && ctx.Err() == nil,
	})
	c.dropUnchosen()
	c.time("suppressions", began)
	return nil
}

func (c *check) read(ctx context.Context, opts load.Options) (*load.Input, error) {
	if c.sent == nil {
		return load.Paths(ctx, c.paths, opts)
	}
	input, err := load.Given(ctx, c.sent, opts)
	if err != nil || c.declare == nil {
		return input, err
	}
	for _, s := range input.Snapshots {
		c.declare(s)
	}
	return input, nil
}

// lint runs the rules for each target. A finding that several targets share is shown once.
func (c *check) lint(ctx context.Context, rules []*lint.Rule) *lint.Result {
	config := lint.Config{Rules: rules, Target: c.targets[0], TargetGiven: c.given, Timings: c.timings}
	result := lint.Run(ctx, c.input.Snapshots, config)
	if len(c.targets) == 1 {
		return result
	}
	type key struct {
		lint.Key
		file, message string
		start         int
	}
	keyOf := func(d *lint.Diagnostic) key { return key{d.Key(), d.Resource.File.Name, d.Message, d.Span.Start} }
	holds := map[key][]target.Target{}
	for i := range result.Diagnostics {
		k := keyOf(&result.Diagnostics[i])
		holds[k] = append(holds[k], c.targets[0])
	}
	for _, t := range c.targets[1:] {
		config.Target = t
		more := lint.Run(ctx, c.input.Snapshots, config)
		result.Failures = append(result.Failures, more.Failures...)
		for rule, took := range more.Timings {
			result.Timings[rule] += took
		}
		for i := range more.Diagnostics {
			k := keyOf(&more.Diagnostics[i])
			if len(holds[k]) == 0 {
				result.Diagnostics = append(result.Diagnostics, more.Diagnostics[i])
			}
			if !slices.Contains(holds[k], t) {
				holds[k] = append(holds[k], t)
			}
		}
	}
	for i := range result.Diagnostics {
		d := &result.Diagnostics[i]
		if only := holds[keyOf(d)]; len(only) < len(c.targets) {
			d.Notes = append(slices.Clone(d.Notes), "only for "+join(only))
		}
	}
	lint.Sort(result.Diagnostics)
	return result
}

// override gives findings the severities of the configuration.
func override(result *lint.Result, s *settings.Settings) {
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

// dropUnchosen takes away findings about suppressions that were not asked for.
func (c *check) dropUnchosen() {
	override(c.result, c.settings)
	c.result.Diagnostics = slices.DeleteFunc(c.result.Diagnostics, func(d lint.Diagnostic) bool {
		return d.Rule.Group == suppress.Rules.Name && !slices.Contains(c.rules, d.Rule)
	})
}

// baselinePath is where the baseline of this run is: beside the configuration, else in this folder or above. It is empty
// where there is none.
func (c *check) baselinePath() string {
	switch {
	case c.flags.noConfig:
		return ""
	case c.settings.File != nil:
		path := filepath.Join(filepath.Dir(c.settings.File.Name), baseline.FileName)
		if !exists(path) {
			return ""
		}
		return path
	}
	return findUp(baseline.FileName)
}

// applyBaseline takes known findings away.
func (c *check) applyBaseline(complete bool) error {
	path := c.baselinePath()
	if path == "" {
		return nil
	}
	b, err := baseline.Read(path, path)
	if err != nil {
		return err
	}
	same := slices.Equal(b.Paths, relativeTo(filepath.Dir(path), c.paths)) && len(c.flags.selects)+len(c.flags.ignores) == 0
	c.hidden.Baselined = b.Apply(c.result, complete && same)
	c.dropUnchosen()
	return nil
}

// relativeTo spells paths as seen from a folder, sorted.
func relativeTo(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.ToSlash(filepath.Clean(p))
		if full, err := filepath.Abs(p); err == nil {
			if base, err := filepath.Abs(dir); err == nil {
				if rel, err := filepath.Rel(base, full); err == nil {
					out[i] = filepath.ToSlash(rel)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// files counts what was read.
func (c *check) files() (n report.Files) {
	for _, f := range c.input.Files {
		if f.As == "" {
			n.Skipped++
		} else {
			n.Read++
		}
	}
	return n
}

// failures prints what went wrong in rules, and tells whether anything did.
func (c *check) failures(w io.Writer) bool { return ruleFailures(w, c.result) }

func ruleFailures(w io.Writer, result *lint.Result) bool {
	for _, f := range result.Failures {
		fmt.Fprintf(w, "xdslint: %s\n%s", f, f.Stack)
	}
	if len(result.Failures) > 0 {
		fmt.Fprintln(w, "xdslint: this is a bug of xdslint; the other rules ran, their findings are above")
	}
	return len(result.Failures) > 0
}
