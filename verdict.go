package xdslint

import (
	"context"
	"errors"

	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Verdict states whether a target would accept a file.
type Verdict = verdict.Verdict

var errNotSingle = errors.New("a verdict is about one file")

// Verdict judges the only file of an input, a path or a text, for each target. It always uses all built-in rules, and of
// the configuration only the targets. It returns an error if the file cannot be read; a file that cannot be parsed is
// rejected.
func (l *Linter) Verdict(ctx context.Context, in Input) ([]Verdict, error) {
	if in.origin == nil {
		return nil, errNotSingle
	}
	path, err := in.single()
	if err != nil {
		return nil, err
	}
	input, err := l.Load(ctx, in)
	if err != nil {
		return nil, err
	}
	name := path
	if path == "-" && len(input.Files) == 1 {
		name = input.Files[0].Path // as findings call it
	}
	all, err := verdict.Of(ctx, name, input, l.targetsOf(name), lint.Config{Rules: rules.Builtin(), TargetGiven: l.judging.TargetGiven, GRPCEnv: l.judging.GRPCEnv})
	for i := range all {
		all[i].Path = path
	}
	return all, err
}
