package playground

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/drawing"
	"github.com/xdslint/xdslint/plan"
)

func draw(ctx context.Context, q *request) (any, error) {
	p := q.project(q.Files)
	l, err := p.linter(nil)
	if err != nil {
		return nil, err
	}
	input, err := l.Load(ctx, p.input())
	if err != nil {
		return nil, err
	}
	return drawing.Of(input.Snapshots).WithParts().Shape(), nil
}

type planAnswer struct {
	plan.Shape
	Resources []planResource `json:"resources"`
}

func planPush(ctx context.Context, q *request) (any, error) {
	push, err := q.push()
	if err != nil {
		return nil, err
	}
	old, next := q.project(q.Before), q.project(q.Files)
	if old.settings.File == nil {
		old.settings, old.standIns = next.settings, next.standIns
	}
	_, before, err := old.side(ctx, "before", q.Targets)
	if err != nil {
		return nil, err
	}
	l, after, err := next.side(ctx, "after", q.Targets)
	if err != nil {
		return nil, err
	}
	outcome, err := l.Plan(ctx, xdslint.Snapshots(before), xdslint.Snapshots(after), xdslint.PlanOptions{Options: plan.Options{Push: push}})
	if err != nil {
		return nil, err
	}
	return &planAnswer{outcome.Shape(), planResources(before, after, outcome.Plan)}, nil
}

// side is one side of a comparison, which is one configuration, and the linter that read it.
func (p *project) side(ctx context.Context, name string, targets []string) (*xdslint.Linter, *graph.Snapshot, error) {
	l, err := p.linter(targets)
	if err != nil {
		return nil, nil, err
	}
	s, _, err := l.Snapshot(ctx, p.input().Named(name))
	if several, ok := errors.AsType[*load.SeveralError](err); ok {
		return nil, nil, fmt.Errorf("%s holds %d configurations, and only one can be looked at: keep one of %s", name, len(several.Names), strings.Join(several.Names, "; "))
	}
	return l, s, err
}
