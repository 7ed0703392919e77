package playground

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/choice"
	"github.com/xdslint/xdslint/rules"
)

// maxFindings are as many as an answer holds.
const maxFindings = 1000

type lintAnswer struct {
	Diagnostics []report.Finding `json:"diagnostics"`
	More        int              `json:"more"`    // that are left out
	Summary     report.Summary   `json:"summary"` // of those too
	Files       []fileReport     `json:"files"`
	Settings    []fault          `json:"settings"`
	Failures    []failure        `json:"failures"`
	Needs       string           `json:"needs,omitempty"` // what another engine has, and this one lacks to judge all
}

type fileReport struct {
	Name string `json:"name"`
	As   string `json:"as"`
	Why  string `json:"why"`
}

type fault struct {
	Message  string          `json:"message"`
	Location report.Location `json:"location"`
}

type failure struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

func lintTexts(ctx context.Context, q *request) (any, error) {
	p := q.project(q.Files)
	c, err := p.choose(q.Targets)
	if err != nil {
		return nil, err
	}
	result, input, suppressed, err := p.lint(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	all := &report.Report{Result: result, Files: report.Counted(input), Hidden: report.Hidden{Suppressed: suppressed}}
	return p.answer(all, input), nil
}

func (p *project) answer(all *report.Report, input *load.Input) *lintAnswer {
	result := all.Result
	answer := &lintAnswer{Summary: all.Summary(), Files: p.reports(input), Settings: []fault{}, Failures: []failure{}, Needs: p.needs}
	answer.More = gravest(result)
	answer.Diagnostics = report.Findings(result)
	for _, f := range p.faults {
		answer.Settings = append(answer.Settings, fault{f.Message, report.LocationOf(f.File, f.Span)})
	}
	for _, f := range result.Failures {
		answer.Failures = append(answer.Failures, failure{f.Rule.ID(), f.Error()})
	}
	return answer
}

func (p *project) lint(ctx context.Context, c *choice.Choice, changed map[string][]byte) (*lint.Result, *load.Input, int, error) {
	input, err := p.read(ctx, changed)
	if err != nil {
		return nil, nil, 0, err
	}
	result := c.Lint(ctx, input.Snapshots)
	return result, input, c.Hide(result, true), nil
}

// gravest cuts a result down to as many findings as an answer holds, and tells how many are gone.
func gravest(result *lint.Result) (more int) {
	more = len(result.Diagnostics) - maxFindings
	if more <= 0 {
		return 0
	}
	slices.SortStableFunc(result.Diagnostics, func(a, b lint.Diagnostic) int { return int(b.Severity) - int(a.Severity) })
	result.Diagnostics = result.Diagnostics[:maxFindings]
	lint.Sort(result.Diagnostics)
	return more
}

// reports say what each text was taken for.
func (p *project) reports(input *load.Input) []fileReport {
	reports := []fileReport{}
	for _, f := range input.Files {
		reports = append(reports, fileReport{f.Path, f.As, f.Why})
	}
	if f := p.settings.File; f != nil {
		reports = append(reports, fileReport{Name: f.Name, Why: "it is the configuration of xdslint"})
	}
	for _, name := range p.others {
		reports = append(reports, fileReport{Name: name, Why: "only one " + config.FileName + " counts: " + p.settings.File.Name})
	}
	return reports
}

type fixAnswer struct {
	Files   map[string]string `json:"files"` // those that change
	Applied int               `json:"applied"`
}

func fixTexts(ctx context.Context, q *request) (any, error) {
	p := q.project(q.Files)
	c, err := p.choose(q.Targets)
	if err != nil {
		return nil, err
	}
	outcome, err := fix.Rounds(fix.Work{
		Unsafe: q.Unsafe,
		Lint: func(changed map[string][]byte) (*lint.Result, error) {
			result, _, _, err := p.lint(ctx, c, changed)
			return result, err
		},
		Key: func(f *source.File) string {
			if _, given := p.texts[f.Name]; given {
				return f.Name
			}
			return ""
		},
	})
	if err != nil {
		return nil, err
	}
	answer := &fixAnswer{Files: map[string]string{}, Applied: outcome.Applied}
	for name, text := range outcome.After {
		if !bytes.Equal(text, p.texts[name]) {
			answer.Files[name] = string(text)
		}
	}
	return answer, nil
}

type verdictAnswer struct {
	Verdicts []verdict.Verdict `json:"verdicts"`
}

// judge asks the targets about each text alone: no other one, and no configuration.
func judge(ctx context.Context, q *request) (any, error) {
	targets, _, err := choice.Targets(q.Targets)
	if err != nil {
		return nil, err
	}
	answer := &verdictAnswer{Verdicts: []verdict.Verdict{}}
	p := q.project(q.Files)
	for _, name := range slices.Sorted(maps.Keys(p.texts)) {
		input, err := load.Given(ctx, map[string][]byte{name: p.texts[name]}, load.Options{})
		if err != nil {
			return nil, err
		}
		verdicts, err := verdict.Of(ctx, name, input, targets, rules.All())
		if err != nil {
			return nil, err
		}
		answer.Verdicts = append(answer.Verdicts, verdicts...)
	}
	return answer, nil
}
