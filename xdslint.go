// Package xdslint lints xDS configurations like the command of this name: New takes the settings of a .xdslint.yaml and
// flags; Linter.Lint takes paths, texts or snapshots, and returns a Report. Linter.Fix, Linter.Plan and Linter.Verdict
// work the same way.
//
// Separate packages implement the parts: graph/load reads, lint runs rules, rules holds the built-in ones, plan finds
// an order for a push. This package is the one way through them, for the command, the server, the playground and other
// programs. An Input says where it comes from, and everything after that is the same:
//
//  1. Linter.load reads the input.
//  2. Linter.judge runs the rules, for each target. forTargets merges the results: a finding of several targets is
//     reported once, and names its targets if it does not hold for all.
//  3. The stages in run.go follow, in their order: suppressions, repeats, the baseline, severities. Suppressions and the
//     baseline add findings of their own, which the last stage settles like all others.
//  4. The report gets the result without secrets.
//
// Linter.Fix runs the same in rounds, with other texts for some files. Linter.Plan takes the findings about a push
// through steps 2 to 4; what is only about one side, such as unused suppressions, Lint reports. Linter.Verdict takes no
// stages: Envoy does not know them.
package xdslint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Options configure a Linter. The zero value has the defaults of the command: all built-in rules, for the default target.
type Options struct {
	BuiltIn  []*lint.Rule // nil: rules.All; custom.Rules adds to those the check of messages of custom extensions
	Config   *Config      // from ReadConfig or ParseConfig; nil: none
	Baseline *Baseline    // known findings, from ReadBaseline; nil: none
	Select   []string     // run only these rules: ids, groups, globs over ids; empty: all
	Ignore   []string     // do not run these rules
	Targets  []string     // data planes to judge for, such as "envoy:1.40"; empty: those of Config, else the default
	GRPCEnv  []string     // environment variables of gRPC clients and servers, as NAME=VALUE
	Profile  string       // edge, mesh or internal: where the data planes run; empty: what Config says, else none
	FailOn   string       // error, warning, info or never; empty: what Config says, else error
	Now      time.Time    // the date that certificates are judged for; zero: what Config says, else none, so that no certificate expires
	Load     load.Options // how an input is read; its Assumptions are added to those of Config
	Timings  bool         // measure each rule
	Progress func(string) // called with a text about the next step; may be nil
}

// Linter judges inputs. It has no state, and is safe for concurrent use.
type Linter struct {
	options Options
	config  *Config
	rules   []*lint.Rule       // that run
	targets []dataplane.Target // those of paths included
	byPath  bool               // Config may have other targets for some paths
	judging lint.Config        // of each run, without its Target and its Rules
	failOn  lint.Severity
	lint    func(context.Context, []*graph.Snapshot, lint.Config) *lint.Result // lint.Run, or what does its work
}

// New creates a linter. It returns an error if Options name something that does not exist.
func New(o Options) (*Linter, error) {
	l := &Linter{options: o, config: o.Config, judging: lint.Config{Timings: o.Timings}, failOn: lint.Error, lint: lint.Run}
	if l.config == nil {
		l.config = &Config{}
	}
	var err error
	if l.judging.Profile, err = lint.ParseProfile(cmp.Or(o.Profile, l.config.Profile)); err != nil {
		return nil, err
	}
	if l.judging.Clock = l.config.Clock(); !o.Now.IsZero() {
		l.judging.Clock.Now = o.Now
	}
	if err := l.aim(); err != nil {
		return nil, err
	}
	if err := l.choose(); err != nil {
		return nil, err
	}
	for _, text := range []string{l.config.FailOn, o.FailOn} {
		if text == "" {
			continue
		}
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

// choose selects the rules that run.
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
			l.config.Severity(r) == config.Off, !r.RunsIn(l.judging.Profile), !l.aimedAt(r):
		default:
			l.rules = append(l.rules, r)
		}
	}
	for _, selector := range l.options.Select {
		if err := l.checkProfile(selector, known); err != nil {
			return err
		}
		if err := l.checkTargets(selector, known); err != nil {
			return err
		}
	}
	return nil
}

// checkProfile returns an error if a selector matches only rules that do not run in the profile.
func (l *Linter) checkProfile(selector string, known []*lint.Rule) error {
	var off *lint.Rule
	for _, r := range known {
		switch {
		case !r.Match(selector):
		case r.RunsIn(l.judging.Profile):
			return nil
		default:
			off = r
		}
	}
	var in []string
	for _, p := range lint.Profiles {
		if off.RunsIn(p) {
			in = append(in, string(p))
		}
	}
	return fmt.Errorf("%s runs only in the profile %s", off.ID(), strings.Join(in, " or "))
}

// aimedAt reports whether a rule runs for any target.
func (l *Linter) aimedAt(r *lint.Rule) bool { return slices.ContainsFunc(l.targets, r.RunsFor) }

// checkTargets returns an error if a selector matches only rules about other data planes than the targets.
func (l *Linter) checkTargets(selector string, known []*lint.Rule) error {
	var off *lint.Rule
	for _, r := range known {
		switch {
		case !r.Match(selector):
		case l.aimedAt(r):
			return nil
		default:
			off = r
		}
	}
	return fmt.Errorf("%s is about %s, which is not among the targets: %s", off.ID(), off.Family, dataplane.Join(l.targets))
}

// aim selects the targets.
func (l *Linter) aim() error {
	names := l.options.Targets
	if len(names) == 0 {
		names, l.byPath = l.config.Targets, true
	}
	var err error
	if l.judging.Fleet, err = config.ParseTargets(names); err != nil {
		return err
	}
	l.judging.TargetGiven = len(names) > 0
	if !l.judging.TargetGiven {
		l.judging.Fleet = []dataplane.Target{dataplane.Default()}
	}
	l.targets = l.judging.Fleet
	if l.byPath {
		l.targets = l.config.AllTargets(l.targets)
	}
	l.judging.GRPCEnv, err = grpc.ReadEnv(l.options.GRPCEnv)
	return err
}

// known are all rules that can be selected.
func (l *Linter) known() []*lint.Rule {
	builtIn := l.options.BuiltIn
	if builtIn == nil {
		builtIn = rules.All()
	}
	return slices.Concat(builtIn, l.config.Custom)
}

// Rules returns the rules that run.
func (l *Linter) Rules() []*lint.Rule { return slices.Clone(l.rules) }

// Targets returns the targets of the linter, at least one.
func (l *Linter) Targets() []dataplane.Target { return slices.Clone(l.targets) }

// Lint reads an input, runs the rules, and removes suppressed findings. A mistake inside a file is a finding; an error means that an
// input could not be read. When ctx ends, Lint returns its error and a report of the findings so far.
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
