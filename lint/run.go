package lint

import (
	"context"
	"fmt"
	"runtime/debug"
	"sort"
	"sync"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/redact"
)

// Config selects the rules of a run and its target.
type Config struct {
	Rules       []*Rule
	Target      dataplane.Target // zero: the newest Envoy
	TargetGiven bool             // the user named it: extensions that the official build lacks are then errors
	Timings     bool             // measure each rule
	Transition  *Transition      // nil: a plain run, without the rules that compare two snapshots
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
	if config.Target == (dataplane.Target{}) {
		config.Target = dataplane.Default()
	}
	all := &Result{Snapshots: snapshots, Target: config.Target}
	for _, s := range snapshots {
		r := newRunner(s, config)
		r.resources(ctx)
		r.whole(ctx)
		all.add(&r.Result)
	}
	all.add(customRules(ctx, snapshots, config))
	all.close()
	Sort(all.Diagnostics)
	return all
}

// runner runs the rules on one snapshot, in one walk.
type runner struct {
	Result
	snapshot *graph.Snapshot
	config   Config
	each     []*Rule  // rules for single messages
	byType   sync.Map // protoreflect.MessageDescriptor → []int: indices of the rules that apply
	overAll  []*Rule  // rules for the snapshot as a whole, or for the transition to it
	changes  *graph.Changes
}

func newRunner(s *graph.Snapshot, config Config) *runner {
	r := &runner{snapshot: s, config: config}
	if t := config.Transition; t != nil {
		r.changes = t.Changes
	}
	for _, rule := range config.Rules {
		if rule.Run.whole != nil || rule.Run.between != nil && r.changes != nil {
			r.overAll = append(r.overAll, rule)
		}
		if rule.Run.each != nil {
			r.each = append(r.each, rule)
		}
	}
	return r
}

// applying returns the indices of the rules for messages of a type.
func (r *runner) applying(md protoreflect.MessageDescriptor) []int {
	if known, ok := r.byType.Load(md); ok {
		return known.([]int)
	}
	found := []int{}
	for i, rule := range r.each {
		if rule.Run.applies(r.config.Target, md) {
			found = append(found, i)
		}
	}
	r.byType.Store(md, found)
	return found
}

func (r *runner) resources(ctx context.Context) {
	n := len(r.snapshot.Resources)
	c := &collector{results: make([]*Result, n), done: make([]bool, n)}
	parallel.Each(ctx, n, func() func(int) {
		w := &worker{runner: r, ctx: ctx, passes: make([]*Pass, len(r.each))}
		return func(i int) { c.add(i, w.resource(i, c.full())) }
	})
	r.add(&c.out)
	for _, one := range c.finished() {
		r.add(one)
	}
}

// worker runs the rules on one resource after the other. A pass lasts as long as the worker, and keeps nothing from earlier resources.
type worker struct {
	*runner
	ctx    context.Context
	passes []*Pass // of runner.each
	into   *Result
}

// resource returns the result of a resource.
func (w *worker) resource(i int, filled map[*Rule]bool) *Result {
	w.into = &Result{filled: filled}
	res := w.snapshot.Resources[i]
	for _, pass := range w.passes {
		if pass != nil {
			pass.begin(w.into)
		}
	}
	res.Walk(func(at *graph.Place) {
		if w.ctx.Err() != nil {
			return
		}
		for _, i := range w.applying(at.Message.Descriptor()) {
			if !res.Fragment || w.each[i].Fragments {
				w.call(i, res, at)
			}
		}
	})
	return w.into
}

func (w *worker) call(i int, res *graph.Resource, at *graph.Place) {
	rule := w.each[i]
	if w.passes[i] == nil {
		w.passes[i] = newPass(w.ctx, rule, w.snapshot, w.config, w.into)
	}
	defer w.into.contain(rule, w.snapshot, res)
	if w.config.Timings {
		defer w.into.measure(rule, time.Now())
	}
	rule.Run.each(w.passes[i], at.At(), at.Message)
}

func (r *runner) whole(ctx context.Context) {
	for _, rule := range r.overAll {
		if ctx.Err() != nil {
			return
		}
		if !rule.Fragments && isFragment(r.snapshot) {
			continue
		}
		func() {
			defer r.contain(rule, r.snapshot, nil)
			if r.config.Timings {
				defer r.measure(rule, time.Now())
			}
			pass := newPass(ctx, rule, r.snapshot, r.config, &r.Result)
			if rule.Run.whole != nil {
				rule.Run.whole(pass)
			}
			if rule.Run.between != nil && r.changes != nil {
				rule.Run.between(pass, r.changes)
			}
		}()
	}
}

// isFragment reports whether a snapshot holds only a part of a message, which is always its only resource.
func isFragment(s *graph.Snapshot) bool {
	return len(s.Resources) == 1 && s.Resources[0].Fragment
}

func newPass(ctx context.Context, rule *Rule, s *graph.Snapshot, config Config, into *Result) *Pass {
	p := &Pass{Rule: rule, Snapshot: s, Target: config.Target, TargetGiven: config.TargetGiven, ctx: ctx}
	p.begin(into)
	if t := config.Transition; t != nil {
		p.Old, p.Push = t.Changes.Old, t.OrDefault()
	}
	return p
}

// Sort sorts findings by file, place, rule and field, and findings without a place by resource. Those in place of others are last.
func Sort(all []Diagnostic) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		switch {
		case (a.More > 0) != (b.More > 0):
			return b.More > 0
		case a.Resource.File.Name != b.Resource.File.Name:
			return a.Resource.File.Name < b.Resource.File.Name
		case a.Span.Start != b.Span.Start:
			return a.Span.Start < b.Span.Start
		case a.Resource.Kind != b.Resource.Kind:
			return a.Resource.Kind < b.Resource.Kind
		case a.Resource.Name != b.Resource.Name:
			return a.Resource.Name < b.Resource.Name
		case a.Rule.ID() != b.Rule.ID():
			return a.Rule.ID() < b.Rule.ID()
		case a.Path.String() != b.Path.String():
			return a.Path.String() < b.Path.String()
		}
		return a.Message < b.Message
	})
}
