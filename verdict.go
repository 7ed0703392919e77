package xdslint

import (
	"context"
	"errors"

	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/rules"
)

// Verdict is a target's answer to one file: would it take it?
type Verdict = verdict.Verdict

var errNotSingle = errors.New("a verdict is about one file")

// Verdict asks each target about a file, which is the only one in the input: a path or a text. The configuration changes nothing here, only the targets
// count. An error means that the file could not be read; what cannot be parsed is rejected.
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
	all, err := verdict.Of(ctx, name, input, l.targets, rules.All())
	for i := range all {
		all[i].Path = path
	}
	return all, err
}
