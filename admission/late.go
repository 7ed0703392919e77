package admission

import (
	"context"
	"math"
	"time"

	"github.com/xdslint/xdslint/lint"
)

// search is a search for the changes that take too long to judge.
type search struct {
	each  time.Duration // the time for one attempt
	whole bool          // only its end counts
	best  *candidate    // what needs to be withheld the least
}

// late decides about a snapshot that could not be judged as a whole in half of the time. What is not judged is treated like a new error. If even
// the snapshot that the node has cannot be judged in time, Options.FailClosed decides.
func (j *judging) late() {
	ctx, cancel := j.part(4)
	defer cancel()
	if !j.lint(ctx, j.base) {
		return
	}
	fresh, _ := j.fresh(ctx, j.next.errors) // those that were found
	v := verdict{out: j.next, Decision: Decision{
		Node: j.node, Outcome: Admitted, New: fresh, Failures: j.next.failures, TimedOut: true, Rejected: j.err, Snapshot: j.snapshot,
	}}
	if len(fresh) > 0 {
		v.Outcome = Observed
	}
	policy := j.strictest(fresh)
	if policy != Block && j.options.Policy != Observe {
		policy = j.options.Policy
	}
	switch {
	case policy == Observe:
	case policy == Quarantine && j.options.Policy == Quarantine:
		newQuarantine(j, v).isolate(fresh)
		return
	case policy == Quarantine:
		newQuarantine(j, v).run(fresh)
		return
	case !j.first || j.strictest(fresh) == Block:
		v.whole, v.Outcome, v.Snapshot, v.out = true, Blocked, nil, nil
	}
	j.store(v)
}

// isolate withholds all changes, and gives back those that it can judge in time. Of a first snapshot, it withholds only what it knows to be
// slow: any other part of it can be worse for the node than all of it.
func (q *quarantine) isolate(fresh []lint.Diagnostic) {
	q.begin(fresh)
	if q.first && len(q.blamed) > 0 {
		q.close()
		q.note(q.compose(), false)
	}
	for _, k := range q.order {
		if q.changes[k] {
			q.add(k, blame{"it was not judged in time", true})
		}
	}
	const attempts = 16 // that take too long
	until, _ := q.ctx.Deadline()
	q.search = &search{each: max(time.Until(until)/attempts, 2*q.base.took), whole: q.first}
	q.close()
	q.note(q.compose(), true)
	ended := q.giveBack(q.unsure(), math.MaxInt)
	if best := q.search.best; !q.first || ended && q.anything(best) {
		q.search = nil
		q.close() // for the reasons that were found meanwhile
		q.note(best, true)
	}
}

// over reports whether too little time is left for another attempt.
func (q *quarantine) over() bool {
	until, _ := q.ctx.Deadline()
	return q.ctx.Err() != nil || q.search != nil && time.Until(until) < q.search.each
}

// attempt returns the context of one attempt.
func (q *quarantine) attempt() (context.Context, context.CancelFunc) {
	if q.search == nil {
		return context.WithCancel(q.ctx)
	}
	return context.WithTimeoutCause(q.ctx, q.search.each, errDeadline)
}

// found notes the errors that come with a change, which the search has found.
func (q *quarantine) found(k key, errors []lint.Diagnostic) {
	if len(errors) > 0 {
		q.blamed[k] = blame{text(&errors[0]), false}
		q.verdict.New = append(q.verdict.New, errors...)
	}
}
