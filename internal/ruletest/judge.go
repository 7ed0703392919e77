package ruletest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	settings "github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// judgement is a run of a rule over an example.
type judgement struct {
	rule   *lint.Rule
	sample explain.Sample
	types  decode.Types
	fixed  map[string]string // its files after all fixes
}

// judge returns the report. The error says that a bad example has no findings, or a good one has some.
func (j *judgement) judge(ctx context.Context) (string, error) {
	outcome, err := fix.Rounds(fix.Work{
		Unsafe: true,
		Lint:   func(texts map[string][]byte) (*lint.Result, error) { return j.lint(ctx, texts) },
	})
	if err != nil {
		return "", err
	}
	j.fixed = map[string]string{}
	for _, f := range j.sample.Files {
		if whole, fixed := outcome.After[f.Name]; fixed {
			if j.fixed[f.Name], err = f.Fixed(string(whole)); err != nil {
				return "", err
			}
		}
	}
	first, err := explain.Shown(outcome.First, j.sample.Files)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if err := report.Text(&text, first, report.TextOptions{}); err != nil {
		return "", err
	}
	switch found := outcome.First.Diagnostics; {
	case j.sample.Bad() && len(found) == 0:
		return "", fmt.Errorf("%s: the rule finds nothing", j.sample.Name)
	case !j.sample.Bad() && len(found) > 0:
		return "", fmt.Errorf("%s: the rule should find nothing, but it finds:\n\n%s", j.sample.Name, text.String())
	}
	return text.String(), nil
}

// settled applies the flags of the example.
func (j *judgement) settled() (config lint.Config, opts load.Options, err error) {
	flags := j.sample.Flags
	config, opts = lint.Config{Rules: []*lint.Rule{j.rule}}, load.Options{Types: j.types}
	if opts.Assumptions, err = settings.ParseAssumptions(flags.Assume, flags.Open, flags.Closed); err != nil {
		return config, opts, err
	}
	switch {
	case flags.Push != (lint.Push{}):
		err = errors.New("push is only for built-in rules")
	case flags.Profile != "":
		err = errors.New("profile is only for built-in rules")
	case len(flags.Targets) > 1:
		err = errors.New("an example can have only one target")
	case len(flags.Targets) == 1:
		config.Target, err = dataplane.Parse(flags.Targets[0])
		config.TargetGiven = true
	}
	return config, opts, err
}

// lint runs the rule over the example; texts replace some of its files.
func (j *judgement) lint(ctx context.Context, texts map[string][]byte) (*lint.Result, error) {
	config, opts, err := j.settled()
	if err != nil {
		return nil, fmt.Errorf("flags: %w", err)
	}
	given := map[string][]byte{}
	for _, f := range j.sample.Files {
		given[f.Name] = []byte(f.Whole())
		if text, changed := texts[f.Name]; changed {
			given[f.Name] = text
		}
	}
	input, err := load.Texts(ctx, given, opts)
	if err != nil {
		return nil, err
	}
	if err := broken(input); texts == nil && err != nil {
		return nil, err
	}
	result := lint.Run(ctx, input.Snapshots, config)
	for _, failure := range result.Failures {
		return nil, failure
	}
	for _, d := range result.Diagnostics {
		if d.Rule == lint.CannotJudge {
			return nil, fmt.Errorf("%s: %s", j.sample.Name, strings.Join(append([]string{d.Message}, d.Notes...), "; "))
		}
	}
	return result, ctx.Err()
}

// broken finds what could not be decoded: a rule would miss a misspelt field. An unknown type is fine, since it may be a custom one.
func broken(input *load.Input) error {
	for _, s := range input.Snapshots {
		for _, r := range s.Resources {
			for _, p := range r.Problems {
				if p.Lenient || p.Kind == decode.UnknownType {
					continue
				}
				at := r.File.Position(p.Span.Start)
				return fmt.Errorf("%s:%d:%d: %s", r.File.Name, at.Line, at.Column, p.Message)
			}
		}
	}
	return nil
}
