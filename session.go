package xdslint

import (
	"context"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
)

// Session lints an input again and again while it is edited. A run finds what Linter.Lint finds, and costs what has changed since the one before:
// a Session keeps what it has read and judged. A report can be used until the next run. The zero Session is ready, and must not be used
// concurrently.
type Session struct {
	earlier load.Earlier
	judged  map[dataplane.Target]*lint.Judged
}

// Lint lints an input as the linter does, which may be another one each time.
func (s *Session) Lint(ctx context.Context, l *Linter, in Input) (*Report, error) {
	within := *l
	within.lint, within.options.Load.Earlier = s.run, &s.earlier
	return within.Lint(ctx, in)
}

// run runs the rules. If the snapshot is the only one and its bootstrap is kept, judgements about what has not changed are kept too.
func (s *Session) run(ctx context.Context, snapshots []*graph.Snapshot, config lint.Config) *lint.Result {
	if len(snapshots) != 1 || !s.earlier.Has(snapshots[0]) {
		return lint.Run(ctx, snapshots, config)
	}
	if s.judged == nil {
		s.judged = map[dataplane.Target]*lint.Judged{}
	}
	result, judged := lint.RunAfter(ctx, snapshots[0], config, s.judged[config.Target])
	s.judged[config.Target] = judged
	return result
}
