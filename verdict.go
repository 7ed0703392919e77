package xdslint

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/rules"
)

// Verdict is a target's answer to one file: would it take it?
type Verdict = verdict.Verdict

// Verdict asks each target about a file, which is the only one in the input: a path or a text. The configuration changes nothing here, only the targets
// count. An error means that the file could not be read; what cannot be parsed is rejected.
func (l *Linter) Verdict(ctx context.Context, in Input) ([]Verdict, error) {
	switch {
	case len(in.paths) == 1:
		return verdict.Judge(ctx, in.paths[0], l.targets, rules.All(), l.options.Load)
	case len(in.texts) == 1:
		input, err := l.Load(ctx, in)
		if err != nil {
			return nil, err
		}
		return verdict.Of(ctx, slices.Collect(maps.Keys(in.texts))[0], input, l.targets, rules.All())
	}
	return nil, errors.New("a verdict is about one file")
}
