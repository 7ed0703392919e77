// Package xdslint judges xDS configurations as the command of this name does: New takes what a .xdslint.yaml and flags say, Linter.Lint takes paths,
// texts or snapshots, and gives a Report. Linter.Fix, Linter.Plan and Linter.Verdict work the same way.
//
// The parts are packages of their own: graph/load reads, lint runs rules, rules holds the built-in ones, plan finds an order for a push.
package xdslint

import (
	"context"
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Options say how a Linter judges. The zero value is what the command does without flags and files: all built-in rules, for the default target.
type Options struct {
	BuiltIn  []*lint.Rule // nil: rules.Known; custom.Rules adds to those the check of messages of custom extensions
	Config   *Config      // from ReadConfig or ParseConfig; nil: none
	Baseline *Baseline    // known findings, from ReadBaseline; nil: none
	Select   []string     // run only these rules: ids, groups, globs over ids; empty: all
	Ignore   []string     // do not run these rules
	Targets  []string     // data planes to judge for, such as "envoy:1.40"; empty: those of Config, else the default
	FailOn   string       // error, warning, info or never; empty: what Config says, else error
	Load     load.Options // how an input is read; its Assumptions are added to those of Config
	Timings  bool         // measure each rule
	Progress func(string) // called with what the linter is about to do, in words for people; nil: nothing is said
}

// Linter judges inputs. It keeps no state, so it may be used concurrently.
type Linter struct {
	options     Options
	config      *Config
	rules       []*lint.Rule // that run
	targets     []dataplane.Target
	targetGiven bool // somebody named them
	failOn      lint.Severity
}

// New makes a linter. What Options name that does not exist is an error.
func New(o Options) (*Linter, error) {
	l := &Linter{options: o, config: o.Config, failOn: lint.Error}
	if l.config == nil {
		l.config = &Config{}
	}
	if err := l.choose(); err != nil {
		return nil, err
	}
	if err := l.aim(); err != nil {
		return nil, err
	}
	for _, text := range []string{l.config.FailOn, o.FailOn} {
		if text == "" {
			continue
		}
		var err error
		if l.failOn, err = config.ParseFailOn(text); err != nil {
			return nil, err
		}
	}
	assumed, err := config.ParseAssumptions(l.config.Assume, l.config.Open, l.config.Closed)
	if err != nil {
		return nil, err
	}
	given := &l.options.Load.Assumptions
	given.Names = slices.Concat(assumed.Names, given.Names)
	given.Open = slices.Concat(assumed.Open, given.Open)
	given.Closed = slices.Concat(assumed.Closed, given.Closed)
	return l, nil
}

// choose settles which rules run.
func (l *Linter) choose() error {
	known := l.known()
	for _, selector := range slices.Concat(l.options.Select, l.options.Ignore) {
		if err := config.CheckSelector(selector, known); err != nil {
			return err
		}
	}
	for _, r := range known {
		switch selects := l.options.Select; {
		case len(selects) > 0 && !slices.ContainsFunc(selects, r.Match) && r != lint.CannotJudge, // which goes with every selection
			slices.ContainsFunc(l.options.Ignore, r.Match),
			l.config.Severity(r) == config.Off:
		default:
			l.rules = append(l.rules, r)
		}
	}
	return nil
}

// aim settles for whom they run.
func (l *Linter) aim() error {
	names := l.options.Targets
	if len(names) == 0 {
		names = l.config.Targets
	}
	for _, name := range names {
		t, err := dataplane.Parse(name)
		if err != nil {
			return err
		}
		if !slices.Contains(l.targets, t) {
			l.targets = append(l.targets, t)
		}
	}
	l.targetGiven = len(names) > 0
	if !l.targetGiven {
		l.targets = []dataplane.Target{dataplane.Default()}
	}
	return nil
}

// known are all rules that can be selected.
func (l *Linter) known() []*lint.Rule {
	builtIn := l.options.BuiltIn
	if builtIn == nil {
		builtIn = rules.Known()
	}
	return slices.Concat(builtIn, l.config.Custom)
}

// Rules are those that run.
func (l *Linter) Rules() []*lint.Rule { return slices.Clone(l.rules) }

// Targets are the data planes that the linter judges for; there is at least one.
func (l *Linter) Targets() []dataplane.Target { return slices.Clone(l.targets) }

// Lint reads an input, runs the rules over it, and takes out of their findings what nobody wants to see. What is wrong inside a file is a finding;
// an error means that an input could not be read. When ctx ends, Lint returns its error, and a report of what was found until then.
func (l *Linter) Lint(ctx context.Context, in Input) (*Report, error) {
	r, err := l.run(ctx, in, nil)
	if err != nil {
		return nil, err
	}
	return r.report(), ctx.Err()
}

func (l *Linter) progress(format string, args ...any) {
	if l.options.Progress != nil {
		l.options.Progress(fmt.Sprintf(format, args...))
	}
}
