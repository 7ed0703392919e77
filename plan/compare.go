package plan

import (
	"context"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Compare says what becomes of a push. To a snapshot that is broken in itself there is a plan only if it is forced. Clean takes out of findings
// what nobody wants to hear of.
func Compare(ctx context.Context, before, after *graph.Snapshot, opts Options, force bool, clean func(*lint.Result) *lint.Result) *Outcome {
	outcome := &Outcome{Hazards: clean(Hazards(before, after, opts.Push)), Broken: clean(Broken(ctx, after, before))}
	if len(outcome.Broken.Diagnostics) == 0 || force {
		outcome.Plan = Make(before, after, opts)
		outcome.Remaining = clean(outcome.Plan.Remaining())
	}
	return outcome
}
