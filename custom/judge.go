package custom

import (
	"context"
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// budget limits the cost of a constraint in a run, in CEL's units: reading a field or comparing two numbers costs about one, an element of a list
// a few.
type budget struct {
	constraints int    // that share
	one         uint64 // of one evaluation: some tens of milliseconds
	all         uint64 // of all evaluations
}

const (
	maxCost  = 1_000_000
	maxTotal = 200 * maxCost // of all constraints: some twenty seconds of one processor
	// evaluating is what an evaluation costs besides what CEL counts, and passing what a subject costs for which there is none.
	evaluating = 20
	passing    = 2
)

// shared divides the budget of a run among constraints, in equal parts: what one finds must not depend on when the others run.
func shared(constraints int) budget {
	all := uint64(maxTotal / max(1, constraints))
	return budget{constraints, min(maxCost, all), all}
}

// steps puts a cost into words.
func steps(cost uint64) string { return fmt.Sprintf("%.3g million steps", float64(cost)/1e6) }

func (b budget) notes() []string {
	if b.constraints < 2 {
		return nil
	}
	return []string{fmt.Sprintf("%d constraints share %s, in equal parts", b.constraints, steps(maxTotal))}
}

// constraint is a constraint that is ready to judge.
type constraint struct {
	budget   budget
	help     string
	subjects func(graph.View) subjects
	evaluate func(graph.View, subject) outcome
}

// subjects are what an expression may be evaluated for, in the order of resources. The constraint can leave some of them out.
type subjects struct {
	count int
	at    func(i int) (s subject, judged bool)
}

// subject is a value that the expression is evaluated for, and the place that a finding about it points to.
type subject struct {
	at   lint.At
	this any
}

// outcome is the result of an expression for a subject.
type outcome struct {
	at      lint.At
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
	of := e.subjects(p.Snapshot)
	for from := 0; from < of.count; {
		outcomes := e.outcomes(ctx, p.Snapshot, of, from, min(e.next(), of.count-from))
		if ctx.Err() != nil {
			return nil // some of them were not evaluated
		}
		for _, o := range outcomes {
			if err := e.take(p, o); err != nil {
				return err
			}
		}
		from += len(outcomes)
	}
	return nil
}

func (e *evaluation) outcomes(ctx context.Context, in graph.View, of subjects, from, n int) []outcome {
	one := func(i int) outcome {
		s, judged := of.at(from + i)
		if !judged {
			return outcome{cost: passing}
		}
		o := e.evaluate(in, s)
		o.at = s.at
		return o
	}
	if n == 1 {
		return []outcome{one(0)} // the constraints themselves run at the same time
	}
	all := make([]outcome, n)
	parallel.Each(ctx, n, func() func(int) {
		return func(i int) { all[i] = one(i) }
	})
	return all
}

// next returns how many expressions to evaluate at the same time. That is at most as many as were evaluated before, so that a constraint that fails has
// not cost much more than necessary. It is also at most what the rest of the budget allows if each evaluation costs as much as it may.
func (e *evaluation) next() int {
	affordable := int((e.budget.all - e.cost) / e.budget.one)
	return max(1, min(e.done, affordable))
}

func (e *evaluation) take(p *lint.Pass, o outcome) *lint.EvalError {
	if o.err != nil {
		return o.err
	}
	e.done++
	if o.message != "" {
		p.Report(o.at, lint.Diagnostic{Message: words.Line(o.message), Help: e.help})
	}
	if e.cost += o.cost; e.cost > e.budget.all {
		return &lint.EvalError{
			Message: "costs more than " + steps(e.budget.all) + " in all",
			Notes:   e.budget.notes(),
			Help:    "let the expression read less: snapshot.find(KIND, NAME) finds a resource without going through all of them",
		}
	}
	return nil
}
