package xdslint

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
)

// run is the state of linting an input.
type run struct {
	*Linter
	*lint.Result // for all targets; with secrets
	input        Input
	loaded       *load.Input
	comparing    bool // two snapshots are compared: what is to be said about a single one, such as its suppressions, lint says
	suppressed   int
	baselined    int
	times        []Stage
}

// Stage is a part of a run.
type Stage struct {
	Name string
	Took time.Duration
}

// stages are the steps after the rules, in this order: suppressions and the baseline remove findings and add their own, which the later steps treat like
// all others. Repeats are joined when the suppressed ones have been removed. The report has the remaining findings, without secrets.
var stages = []struct {
	name string
	do   func(*run, context.Context)
}{
	{"suppressions", (*run).suppress},
	{"repeats", (*run).joinRepeats},
	{"baseline", (*run).hideKnown},
	{"severities", (*run).settle},
}

// run reads an input, with other texts for some of its files, and judges it. When ctx ends, it returns what it has found so far.
func (l *Linter) run(ctx context.Context, in Input, changed map[string][]byte) (*run, error) {
	if in.origin == nil {
		return nil, ErrNoPaths
	}
	r := &run{Linter: l, input: in}
	err := r.time("read and decode", func() (err error) {
		r.loaded, err = l.load(ctx, in, changed)
		return err
	})
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if r.loaded == nil {
		r.loaded = &load.Input{}
	}
	if l.options.Progress != nil {
		l.progress("checking %d resources", resources(r.loaded.Snapshots))
	}
	_ = r.time("rules", func() error {
		r.Result = l.judge(ctx, r.loaded.Snapshots)
		return nil
	})
	r.finish(ctx)
	return r, nil
}

// finish takes a result through all stages.
func (r *run) finish(ctx context.Context) {
	for _, stage := range stages {
		_ = r.time(stage.name, func() error {
			stage.do(r, ctx)
			return nil
		})
	}
}

func (r *run) time(name string, do func() error) error {
	began := time.Now()
	err := do()
	r.times = append(r.times, Stage{name, time.Since(began)})
	return err
}

func resources(snapshots []*graph.Snapshot) (n int) {
	for _, s := range snapshots {
		n += len(s.Resources)
	}
	return n
}

// judge runs the rules for each target. Those about suppressions have nothing to run.
func (l *Linter) judge(ctx context.Context, snapshots []*graph.Snapshot) *lint.Result {
	config := l.judging
	config.Rules = slices.DeleteFunc(slices.Clone(l.rules), aboutSuppressions)
	config.FileTargets = l.fileTargets(snapshots)
	return l.forTargets(func(t dataplane.Target) *lint.Result {
		config.Target = t
		return l.lint(ctx, snapshots, config)
	})
}

func aboutSuppressions(r *lint.Rule) bool { return r.Group == suppress.Rules.Name }

// suppress removes the findings that comments and the ignores of the configuration hide.
func (r *run) suppress(ctx context.Context) {
	r.suppressed = suppress.Apply(r.Result, suppress.Options{
		Ran:   slices.DeleteFunc(slices.Clone(r.rules), (*lint.Rule).Transitional),
		Known: r.known(), Ignores: r.config.Ignores, File: r.config.File,
		Whole: r.input.whole && !r.comparing && ctx.Err() == nil,
	})
}

// hideKnown removes the findings in the baseline. An entry that no longer occurs is a finding if the run covers all inputs of the
// baseline.
func (r *run) hideKnown(ctx context.Context) {
	b := r.options.Baseline
	if b == nil || r.comparing {
		return
	}
	same := slices.Equal(b.Paths, relativeTo(filepath.Dir(b.Name()), r.input.names(r.Linter))) && len(r.options.Select)+len(r.options.Ignore) == 0
	r.baselined = b.Apply(r.Result, same && ctx.Err() == nil)
}

// settle removes findings of rules that are not selected, and applies the severities of the configuration to the others.
func (r *run) settle(context.Context) {
	wanted := map[*lint.Rule]bool{}
	for _, rule := range r.rules {
		wanted[rule] = !r.comparing || !aboutSuppressions(rule)
	}
	r.Diagnostics = slices.DeleteFunc(r.Diagnostics, func(d lint.Diagnostic) bool { return !wanted[d.Rule] })
	if len(r.config.Severities) == 0 {
		return
	}
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		if severity, err := lint.ParseSeverity(r.config.Severity(d.Rule)); err == nil {
			d.Severity = severity
		}
	}
}

// relativeTo spells paths as seen from a folder, sorted.
func relativeTo(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = source.RelativeTo(dir, p)
	}
	slices.Sort(out)
	return out
}
