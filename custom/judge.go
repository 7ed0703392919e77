package custom

import (
	"context"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/lint"
)

// maxCost limits one evaluation of an expression, in CEL's units: reading a field or comparing two numbers costs about one, an element of a list a few.
// It takes some tens of milliseconds to use them up.
const maxCost = 1_000_000

// maxTotal limits all evaluations of an expression in a run: some seconds.
const maxTotal = 100 * maxCost

// constraint is a constraint that is ready to judge.
type constraint struct {
	help     string
	subjects func(graph.View) []subject // in the order of resources
	evaluate func(graph.View, subject) outcome
}

// subject is a value that the expression is evaluated for, and the place that a finding about it points to.
type subject struct {
	at   lint.At
	this any
}

// outcome is the result of an expression for a subject.
type outcome struct {
	message string // empty: all is well
	cost    uint64
	err     *lint.EvalError
}

// evaluation is a constraint in one run.
type evaluation struct {
	*constraint
	done int    // how many expressions were evaluated so far
	cost uint64 // of all of them
}

func (c *constraint) start() lint.Judge { return (&evaluation{constraint: c}).judge }

// judge evaluates the expression for several subjects at the same time, but reads the outcomes in the order of the subjects. So a failure, or the end of
// the budget, occurs at the same subject in every run.
func (e *evaluation) judge(ctx context.Context, passes []*lint.Pass) *lint.EvalError {
	p := passes[0]
	for rest := e.subjects(p.Snapshot); len(rest) > 0; {
		batch := rest[:min(len(rest), e.next())]
		rest = rest[len(batch):]
		outcomes := make([]outcome, len(batch))
		parallel.Each(ctx, len(batch), func() func(int) {
			return func(i int) { outcomes[i] = e.evaluate(p.Snapshot, batch[i]) }
		})
		if ctx.Err() != nil {
			return nil // some of them were not evaluated
		}
		for i, o := range outcomes {
			if err := e.take(p, batch[i].at, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns how many expressions to evaluate at the same time. That is at most as many as were evaluated before, so that a constraint that fails has
// not cost much more than necessary. It is also at most what the rest of maxTotal allows if each evaluation costs maxCost.
func (e *evaluation) next() int {
	affordable := int((maxTotal - e.cost) / maxCost)
	return max(1, min(e.done, affordable))
}

func (e *evaluation) take(p *lint.Pass, at lint.At, o outcome) *lint.EvalError {
	if o.err != nil {
		return o.err
	}
	e.done++
	if o.message != "" {
		p.Report(at, lint.Diagnostic{Message: lint.Line(o.message), Help: e.help})
	}
	if e.cost += o.cost; e.cost > maxTotal {
		return &lint.EvalError{
			Message: "costs more than a hundred million steps in all",
			Help:    "let the expression read less: snapshot.find(KIND, NAME) finds a resource without going through all of them",
		}
	}
	return nil
}
