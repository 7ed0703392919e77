package plan

import (
	"context"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Compare returns the outcome of a push. If the new snapshot is broken by itself, there is a plan only with force.
// Clean removes findings that the user does not want.
func Compare(ctx context.Context, before, after *graph.Snapshot, opts Options, force bool, clean func(*lint.Result) *lint.Result) *Outcome {
	outcome := &Outcome{Hazards: clean(Hazards(before, after, opts.Push)), Broken: clean(Broken(ctx, after, before))}
	if len(outcome.Broken.Diagnostics) == 0 || force {
		outcome.Plan = Make(before, after, opts)
		outcome.Remaining = clean(outcome.Plan.Remaining())
	}
	return outcome
}
