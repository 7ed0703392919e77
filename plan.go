package xdslint

import (
	"context"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// PlanOptions configure Linter.Plan.
type PlanOptions struct {
	plan.Options
	Force bool // make a plan even if the new snapshot is itself broken
}

// Plan says what a push of the new input breaks for a data plane that has the old one, and finds an order that breaks nothing. Suppressions, ignores and
// severities hold as they do for Lint, and several targets are judged for together.
func (l *Linter) Plan(ctx context.Context, before, after Input, opts PlanOptions) (*plan.Outcome, error) {
	if !slices.ContainsFunc(l.targets, func(t dataplane.Target) bool { return t.Family() == dataplane.Envoy }) {
		opts.Family = dataplane.GRPC
	}
	old, _, err := l.Snapshot(ctx, before)
	if err != nil {
		return nil, err
	}
	next, _, err := l.Snapshot(ctx, after)
	if err != nil {
		return nil, err
	}
	changes := graph.Diff(old, next)
	outcome := &plan.Outcome{
		Hazards: l.compared(ctx, func(t dataplane.Target) *lint.Result { return plan.Hazards(ctx, changes, opts.Push, t) }),
		Broken:  l.broken(ctx, next, old),
	}
	if len(outcome.Broken.Diagnostics) == 0 || opts.Force {
		outcome.Plan = plan.Make(changes, opts.Options)
		outcome.Remaining = l.compared(ctx, func(t dataplane.Target) *lint.Result { return outcome.Plan.Remaining(ctx, t) })
	}
	return outcome, ctx.Err()
}

// Broken returns the errors of a single configuration for which it should not be pushed. See plan.Broken.
func (l *Linter) Broken(ctx context.Context, in Input) (*lint.Result, error) {
	s, _, err := l.Snapshot(ctx, in)
	if err != nil {
		return nil, err
	}
	return l.broken(ctx, s, nil), ctx.Err()
}

func (l *Linter) broken(ctx context.Context, s, before *graph.Snapshot) *lint.Result {
	files := l.fileTargets([]*graph.Snapshot{s})
	return l.compared(ctx, func(t dataplane.Target) *lint.Result {
		return plan.Broken(ctx, s, before, lint.Config{
			Target: t, TargetGiven: l.judging.TargetGiven, Fleet: l.judging.Fleet, FileTargets: files, GRPCEnv: l.judging.GRPCEnv,
		})
	})
}

// compared takes what was found about a comparison through the stages.
func (l *Linter) compared(ctx context.Context, judge func(dataplane.Target) *lint.Result) *lint.Result {
	r := &run{Linter: l, Result: l.forTargets(judge), comparing: true}
	r.finish(ctx)
	return report.Clean(r.Result)
}

// Snapshot reads an input in which there must be exactly one configuration, to compare it with another one. A file that is not xDS is an error: what
// it should hold would look like a difference. unreadable lists the parts of resources that cannot be compared, since they did not decode.
func (l *Linter) Snapshot(ctx context.Context, in Input) (s *graph.Snapshot, unreadable []string, err error) {
	input, err := l.Load(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	if s, err = input.One(l.title(in)); err != nil {
		return nil, nil, err
	}
	unreadable, err = load.Unreadable(s)
	return s, unreadable, err
}
