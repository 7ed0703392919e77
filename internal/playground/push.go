package playground

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/plan"
)

func draw(ctx context.Context, q *request) (any, error) {
	input, err := q.project(q.Files).read(ctx, nil)
	if err != nil {
		return nil, err
	}
	return graph.Draw(input.Snapshots).WithParts().Shape(), nil
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
		old.settings = next.settings
	}
	before, err := old.side(ctx, "before")
	if err != nil {
		return nil, err
	}
	after, err := next.side(ctx, "after")
	if err != nil {
		return nil, err
	}
	outcome := plan.Compare(ctx, before, after, plan.Options{Push: push}, false, next.wanted)
	return &planAnswer{outcome.Shape(), planResources(before, after, outcome.Plan)}, nil
}

// side is one side of a comparison, which is one configuration.
func (p *project) side(ctx context.Context, name string) (*graph.Snapshot, error) {
	input, err := p.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	s, err := input.One(name)
	var several *load.SeveralError
	if errors.As(err, &several) {
		return nil, fmt.Errorf("%s holds %d configurations, and only one can be compared: keep one of %s", name, len(several.Names), strings.Join(several.Names, "; "))
	}
	if err != nil {
		return nil, err
	}
	_, err = load.Unreadable(s)
	return s, err
}
