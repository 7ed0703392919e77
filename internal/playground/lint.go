package playground

import (
	"context"
	"maps"
	"slices"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// maxFindings is the maximum number of findings in an answer.
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
	l, err := p.linter(q.Targets)
	if err != nil {
		return nil, err
	}
	r, err := q.engine.session.Lint(ctx, l, p.input())
	if err != nil {
		return nil, err
	}
	return p.answer(r), nil
}

func (p *project) answer(r *xdslint.Report) *lintAnswer {
	result := r.Result
	answer := &lintAnswer{Summary: r.Summary(), Files: p.reports(r.Files), Settings: []fault{}, Failures: []failure{}, Needs: p.needs}
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

// gravest keeps the most severe findings, up to the limit of an answer, and returns how many were removed.
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

// reports returns how each text was read.
func (p *project) reports(files []load.FileReport) []fileReport {
	reports := []fileReport{}
	for _, f := range files {
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
	l, err := p.linter(q.Targets)
	if err != nil {
		return nil, err
	}
	fixed, err := l.Fix(ctx, p.input(), q.Unsafe)
	if err != nil {
		return nil, err
	}
	answer := &fixAnswer{Files: map[string]string{}, Applied: fixed.Applied}
	for _, f := range fixed.Files {
		answer.Files[f.Name] = string(f.After)
	}
	return answer, nil
}

type verdictAnswer struct {
	Verdicts []xdslint.Verdict `json:"verdicts"`
}

// judge asks the targets about each text alone: no other one, and no configuration.
func judge(ctx context.Context, q *request) (any, error) {
	l, err := xdslint.New(xdslint.Options{Targets: q.Targets})
	if err != nil {
		return nil, err
	}
	answer := &verdictAnswer{Verdicts: []xdslint.Verdict{}}
	p := q.project(q.Files)
	for _, name := range slices.Sorted(maps.Keys(p.texts)) {
		verdicts, err := l.Verdict(ctx, xdslint.Texts(map[string][]byte{name: p.texts[name]}))
		if err != nil {
			return nil, err
		}
		answer.Verdicts = append(answer.Verdicts, verdicts...)
	}
	return answer, nil
}
