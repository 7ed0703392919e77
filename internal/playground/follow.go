package playground

import (
	"context"
	"errors"
	"maps"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// errNeedsRequests is the answer of an engine that cannot follow requests.
var errNeedsRequests = errors.New("following requests needs the larger engine")

// followed is the configuration through which requests are followed, so that another request does not read it again.
type followed struct {
	files    map[string]string
	targets  []dataplane.Target
	snapshot *graph.Snapshot
}

func follow(ctx context.Context, q *request) (any, error) {
	if q.engine.Follow == nil {
		return nil, errNeedsRequests
	}
	if err := q.readFollowed(ctx); err != nil {
		return nil, err
	}
	targets := q.engine.followed.targets
	if len(q.Targets) > 0 {
		l, err := xdslint.New(xdslint.Options{Targets: q.Targets})
		if err != nil {
			return nil, err
		}
		targets = l.Targets()
	}
	return q.engine.Follow(ctx, q.engine.followed.snapshot, targets, q.Asked)
}

func findHoles(ctx context.Context, q *request) (any, error) {
	if q.engine.Holes == nil {
		return nil, errNeedsRequests
	}
	if err := q.readFollowed(ctx); err != nil {
		return nil, err
	}
	return q.engine.Holes(q.engine.followed.snapshot)
}

// readFollowed reads the files of a request, unless they are those of the one before.
func (q *request) readFollowed(ctx context.Context) error {
	if q.engine.followed.snapshot != nil && maps.Equal(q.engine.followed.files, q.Files) {
		return nil
	}
	l, s, err := q.project(q.Files).side(ctx, "the project", nil)
	if err != nil {
		return err
	}
	q.engine.followed = followed{q.Files, l.Targets(), s}
	return nil
}
