package lint

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/redact"
)

// Config selects the rules of a run and its target.
type Config struct {
	Rules       []*Rule
	Target      dataplane.Target              // zero: the newest Envoy
	Profile     Profile                       // where the data plane runs; the Rules that are off there do not run
	Fleet       []dataplane.Target            // the targets of the run; each gets the resources that are meant for it. None: Target gets all
	FileTargets map[string][]dataplane.Target // instead of Fleet, by the name of a file
	GRPCEnv     map[string]string             // environment variables of gRPC clients and servers, which switch features on
	TargetGiven bool                          // the user named it: extensions that the official build lacks are then errors
	Clock       Clock                         // zero: no date, so no certificate expires
	Timings     bool                          // measure each rule
	Transition  *Transition                   // nil: a plain run, without the rules that compare two snapshots
}

// Clock is the date that certificates are judged for. Findings depend on no other clock.
type Clock struct {
	Now  time.Time
	Days int // how long before its end a certificate counts as one that expires soon
}

// Failure is a panic of a rule. The findings of the rule are lost. All other rules ran.
type Failure struct {
	Rule     *Rule
	Snapshot *graph.Snapshot
	Resource *graph.Resource // nil for a rule on the whole snapshot
	Panic    any
	Stack    []byte
}

func (f *Failure) Error() string {
	where := "the snapshot"
	if f.Resource != nil {
		where = fmt.Sprintf("%s %q", f.Resource.Kind, f.Resource.Name)
	}
	return redact.Looks(fmt.Sprintf("rule %s failed on %s: %v", f.Rule.ID(), where, f.Panic))
}

// Result is the outcome of a run, with findings in the order of files and of places in them.
type Result struct {
	Diagnostics []Diagnostic
	Failures    []*Failure
	Unable      []*Origin         // of custom rules that could not judge; a finding of CannotJudge says why
	Snapshots   []*graph.Snapshot // that were judged
	Target      dataplane.Target  // that they were judged for
	Profile     Profile           // in which they were judged
	Secrets     *redact.Files     // the secrets in the files, if the Diagnostics were redacted; nil: they were not

	left   map[*Rule]*leftOut // what is not kept
	filled map[*Rule]bool     // rules of which no more is kept, because of earlier results
	weight int                // of Diagnostics

	Timings map[*Rule]time.Duration // of a rule the sum over all workers, of an origin the elapsed time; nil without Config.Timings
}

// measure adds the time since the start of a rule.
func (r *Result) measure(rule *Rule, began time.Time) {
	if r.Timings == nil {
		r.Timings = map[*Rule]time.Duration{}
	}
	r.Timings[rule] += time.Since(began)
}

// contain turns a panic in a rule into a Failure. It must be deferred.
func (r *Result) contain(rule *Rule, s *graph.Snapshot, res *graph.Resource) {
	if p := recover(); p != nil && p != errEnded {
		r.Failures = append(r.Failures, &Failure{Rule: rule, Snapshot: s, Resource: res, Panic: p, Stack: debug.Stack()})
	}
}

func (r *Result) add(more *Result) {
	r.Diagnostics = append(r.Diagnostics, more.Diagnostics...)
	r.Failures = append(r.Failures, more.Failures...)
	r.Unable = append(r.Unable, more.Unable...)
	r.weight += more.weight
	for rule, out := range more.left {
		r.leave(rule, *out)
	}
	for rule, took := range more.Timings {
		if r.Timings == nil {
			r.Timings = map[*Rule]time.Duration{}
		}
		r.Timings[rule] += took
	}
}

// Run lints each snapshot separately. When ctx ends, it stops and returns the findings so far.
func Run(ctx context.Context, snapshots []*graph.Snapshot, config Config) *Result {
	config = config.normal()
	all := &Result{Snapshots: snapshots, Target: config.Target, Profile: config.Profile}
	for _, s := range snapshots {
		r := newRunner(s, config, callsOf(config))
		var units []unit
		if r.calls.ofResources() {
			units = unitsOf(s.Resources)
		}
		r.everything(ctx, units)
		r.complete(s)
		all.add(&r.Result)
	}
	all.add(customRules(ctx, snapshots, config))
	all.close()
	Sort(all.Diagnostics)
	return all
}

func (c Config) normal() Config {
	if c.Target == (dataplane.Target{}) {
		c.Target = dataplane.Default()
	}
	c.Rules = running(c.Rules, c.Profile, c.Target)
	return c
}

// runner runs the rules on one snapshot.
type runner struct {
	Result
	*calls
	snapshot *graph.Snapshot
	config   Config
	changes  *graph.Changes
	asking   bool // the questions of the rules are noted
}

func newRunner(s *graph.Snapshot, config Config, c *calls) *runner {
	r := &runner{snapshot: s, config: config, calls: c}
	if t := config.Transition; t != nil {
		r.changes = t.Changes
	}
	return r
}

// everything runs all rules. Those over the snapshot as a whole take one processor meanwhile, so that nothing waits for them at the end.
func (r *runner) everything(ctx context.Context, units []unit) (made []*judgement, whole map[*Rule]*judgement) {
	parallel.Each(ctx, 2, func() func(int) {
		return func(i int) {
			if i == 0 {
				whole = r.whole(ctx, nil, nil)
			} else {
				made = r.judge(ctx, units, nil)
			}
		}
	})
	for _, one := range made {
		if one != nil {
			r.add(&one.Result)
		}
	}
	r.addWhole(whole)
	return made, whole
}

// whole runs the rules over the snapshot as a whole, and those over the transition to it. It takes judgements from before that a change did
// not touch.
func (r *runner) whole(ctx context.Context, before map[*Rule]*judgement, delta *graph.Delta) map[*Rule]*judgement {
	made, gone := map[*Rule]*judgement{}, removed(delta)
	w := newWorker(ctx, r)
	for _, i := range r.calls.whole {
		rule := r.config.Rules[i]
		if ctx.Err() != nil {
			break
		}
		if !rule.Fragments && isFragment(r.snapshot) {
			continue
		}
		known := before[rule]
		if known == nil || known.lost(gone) || known.asks(delta.Touched) {
			known = w.whole(rule)
		}
		made[rule] = known
	}
	return made
}

// addWhole adds the findings of these rules, in their order.
func (r *runner) addWhole(made map[*Rule]*judgement) {
	for _, i := range r.calls.whole {
		if known := made[r.config.Rules[i]]; known != nil {
			r.add(known.now())
		}
	}
}

func (w *worker) whole(rule *Rule) (made *judgement) {
	made = &judgement{}
	w.of, w.into = unit{}, made
	clear(w.asked)
	defer made.contain(rule, w.snapshot, nil)
	if w.config.Timings {
		defer made.measure(rule, time.Now())
	}
	pass := w.pass(rule, &made.Result)
	if rule.Run.whole != nil {
		rule.Run.whole(pass)
	}
	if rule.Run.between != nil && w.changes != nil {
		rule.Run.between(pass, w.changes)
	}
	if w.asking {
		made.pin()
	}
	return made
}

// isFragment reports whether a snapshot holds only a part of a message, which is always its only resource.
func isFragment(s *graph.Snapshot) bool {
	return len(s.Resources) == 1 && s.Resources[0].Fragment
}

func newPass(ctx context.Context, rule *Rule, s graph.View, config Config, into *Result) *Pass {
	p := &Pass{Rule: rule, Snapshot: s, Config: config, severity: rule.In(config.Profile), ctx: ctx}
	p.begin(into)
	if t := config.Transition; t != nil {
		p.Old, p.Push = t.Changes.Old, t.OrDefault()
	}
	return p
}

// Sort sorts findings by file, place, rule and field, and findings without a place by resource. Those in place of others are last.
func Sort(all []Diagnostic) {
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return compare(&a, &b) })
}

func compare(a, b *Diagnostic) int {
	switch {
	case (a.More > 0) != (b.More > 0):
		return cmp.Compare(min(a.More, 1), min(b.More, 1))
	case a.Resource.File.Name != b.Resource.File.Name:
		return cmp.Compare(a.Resource.File.Name, b.Resource.File.Name)
	case a.Span.Start != b.Span.Start:
		return cmp.Compare(a.Span.Start, b.Span.Start)
	case a.Resource.Kind != b.Resource.Kind:
		return cmp.Compare(a.Resource.Kind, b.Resource.Kind)
	case a.Resource.Name != b.Resource.Name:
		return cmp.Compare(a.Resource.Name, b.Resource.Name)
	case a.Rule.ID() != b.Rule.ID():
		return cmp.Compare(a.Rule.ID(), b.Rule.ID())
	}
	return cmp.Or(cmp.Compare(a.Path.String(), b.Path.String()), cmp.Compare(a.Message, b.Message))
}
