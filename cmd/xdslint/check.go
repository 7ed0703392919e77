package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/baseline"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/choice"
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
	f.addPlugins(flags)
	flags.StringSliceVar(&f.selects, "select", nil, "run only these `RULE`s: ids, groups, globs over ids")
	flags.StringSliceVar(&f.ignores, "ignore", nil, "do not run these `RULE`s")
	flags.StringSliceVar(&f.targets, "target", nil, "data plane to judge for, as `PLANE:VERSION` (default "+dataplane.Default().String()+")")
	completeWith(cmd, "select", func() []string { return f.ruleIDs(cmd) })
	completeWith(cmd, "ignore", func() []string { return f.ruleIDs(cmd) })
	completeWith(cmd, "target", targetNames)
}

func targetNames() (names []string) {
	for _, t := range dataplane.All() {
		names = append(names, t.String())
	}
	return names
}

// check is one run of the rules, before anything is written.
type check struct {
	*choice.Choice
	flags    *checkFlags
	paths    []string
	explicit bool // the command line named the paths
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
	s, err := f.settings(cmd.Context())
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
func (f *checkFlags) check(s *config.Settings) (*check, error) {
	chosen, err := choice.New(s, known(s), f.selects, f.ignores, f.targets)
	if err != nil {
		return nil, err
	}
	c := &check{Choice: chosen, flags: f}
	c.options, err = f.options(s)
	return c, err
}

// of is the same check of texts that somebody sent.
func (c *check) of(texts map[string][]byte) *check {
	sent := *c
	sent.sent, sent.explicit = texts, true
	return &sent
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
	c.result = c.Lint(ctx, c.input.Snapshots)
	c.time("rules", began)

	began = time.Now()
	c.hidden.Suppressed = c.Hide(c.result, !c.explicit && ctx.Err() == nil)
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

// baselinePath is where the baseline of this run is: beside the configuration, else in this folder or above. It is empty
// where there is none.
func (c *check) baselinePath() string {
	switch {
	case c.flags.noConfig:
		return ""
	case c.Settings.File != nil:
		path := filepath.Join(filepath.Dir(c.Settings.File.Name), baseline.FileName)
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
	c.Finish(c.result)
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
func (c *check) files() report.Files { return report.Counted(c.input) }

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
