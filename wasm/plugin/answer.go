package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// maxParts is the maximum number of notes of a finding, and of its fixes.
const maxParts = 20

// check judges a snapshot with all of the plugin's rules that run.
func (p *Plugin) check(ctx context.Context, passes []*lint.Pass) *lint.EvalError {
	q := newQuestion(p.types, passes)
	why := p.answer(ctx, q, passes)
	switch {
	case why == nil || ctx.Err() != nil: // the run is over
		return nil
	case q.secret:
		return unablef("cannot judge the content of a Kubernetes Secret; the reason is withheld, since it may quote the Secret")
	}
	return why
}

func (p *Plugin) answer(ctx context.Context, q *question, passes []*lint.Pass) *lint.EvalError {
	raw, err := wire.Marshal(&q.Snapshot)
	if err != nil {
		return unablef("cannot be asked: %s", words.Line(err.Error()))
	}
	answer, why := p.judge(ctx, raw)
	if why != nil {
		return why
	}
	limited, cancel := context.WithTimeout(ctx, p.options.Time)
	defer cancel()
	return p.report(limited, answer, q, passes)
}

// report turns an answer into findings. If one is wrong, none is reported.
func (p *Plugin) report(ctx context.Context, raw []byte, q *question, passes []*lint.Pass) *lint.EvalError {
	answer := &pluginabi.Findings{}
	if err := unmarshal(raw, answer); err != nil {
		return unablef("returns %s", err)
	}
	if n := len(answer.GetFindings()); n > MaxFindings {
		return unablef("has %d findings; the limit is %d", n, MaxFindings)
	}
	a := &answering{question: q, ctx: ctx, limit: p.options.Time, running: map[string]*lint.Pass{}, known: map[string]bool{}}
	for _, pass := range passes {
		a.running[pass.Rule.ID()] = pass
	}
	for _, rule := range p.rules {
		a.known[rule.ID()] = true
	}
	var reports []func()
	for _, f := range answer.GetFindings() {
		if ctx.Err() != nil {
			return a.tooLong()
		}
		report, why := a.finding(f)
		if why != nil {
			return why
		}
		reports = append(reports, report)
	}
	for _, report := range reports {
		report()
	}
	return nil
}

func unablef(format string, args ...any) *lint.EvalError {
	return &lint.EvalError{Message: fmt.Sprintf(format, args...)}
}

// answering is the context in which an answer is read.
type answering struct {
	*question
	ctx     context.Context // ends when the time for the answer is over
	limit   time.Duration
	running map[string]*lint.Pass
	known   map[string]bool // rules, whether they run or not
}

// tooLong: one place or edit takes little time, but thousands of them in a large text may take minutes.
func (a *answering) tooLong() *lint.EvalError {
	return unablef("returns more findings and fixes than can be located in %s", a.limit)
}

// finding checks a finding, and returns a function that reports it.
func (a *answering) finding(f *pluginabi.Finding) (report func(), why *lint.EvalError) {
	if !a.known[f.GetRule()] {
		return nil, unablef("has a finding of rule %s, which is not in its description", quoted(f.GetRule()))
	}
	if int(f.GetResource()) >= len(a.resources) {
		return nil, unablef("has a finding of %s in resource %d, but there are only %d", f.GetRule(), f.GetResource(), len(a.resources))
	}
	r := a.resources[f.GetResource()]
	path, err := pathIn(r, a.contents[f.GetResource()], f.GetPath())
	if err != nil {
		return nil, unablef("has a finding of %s at the invalid path %s in %s: %s", f.GetRule(), quoted(f.GetPath()), a.name(r), err)
	}
	severity, ok := severities[f.GetSeverity()]
	if !ok {
		return nil, unablef("has a finding of %s with the unknown severity %d", f.GetRule(), f.GetSeverity())
	}
	d := lint.Diagnostic{Severity: severity, Message: words.Line(f.GetMessage()), Help: words.Line(f.GetHelp())}
	if d.Message == "" {
		return nil, unablef("has a finding of %s without a message", f.GetRule())
	}
	if n := max(len(f.GetNotes()), len(f.GetFixes())); n > maxParts {
		return nil, unablef("has a finding of %s with %d notes or fixes; the limit is %d", f.GetRule(), n, maxParts)
	}
	for _, note := range f.GetNotes() {
		d.Notes = append(d.Notes, words.Line(note))
	}
	if d.Fixes, why = a.fixes(r, f); why != nil {
		return nil, why
	}
	pass := a.running[f.GetRule()]
	return func() {
		if pass != nil {
			pass.Report(at(r, path), a.discreet(pass.Rule, d))
		}
	}, nil
}

func at(r *graph.Resource, path *graph.Path) lint.At {
	return r.AtPath(path)
}

// discreet drops the plugin's own words if any text in the snapshot may be a secret.
func (a *answering) discreet(rule *lint.Rule, d lint.Diagnostic) lint.Diagnostic {
	if !a.secret {
		return d
	}
	return lint.Diagnostic{Severity: d.Severity, Message: rule.Summary}
}

// name of a resource in a message about the plugin.
func (a *answering) name(r *graph.Resource) string {
	if r.Name == "" || a.secret {
		return string(r.Kind)
	}
	return string(r.Kind) + " " + quoted(r.Name)
}
