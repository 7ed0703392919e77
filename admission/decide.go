package admission

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

var errDeadline = errors.New("the deadline of judging has passed")

// judging is one snapshot being judged, in a goroutine that may be given up.
type judging struct {
	*Gate
	ctx      context.Context
	node     string
	had      *candidate // what was pushed last; nil: not known
	pushing  bool       // that is under way, so that the cache need not be asked
	snapshot cachev3.ResourceSnapshot
	rejected map[key]string // by the node, and why
	err      error          // the rejection
	world    world          // the types that the node ever had; includes those of base and next once they are known

	base, next *candidate
	first      bool // the node does not have a snapshot: base is empty
	failures   []*lint.Failure
	panicked   error // outside of rules
	rulesOnly  bool  // hazards come later
	progress   atomic.Pointer[verdict]
}

// verdict is the result of judging so far.
type verdict struct {
	Decision
	out   *candidate // what is pushed
	whole bool       // the result is final
}

// decide judges a snapshot until the deadline. It returns an error if ctx ends first.
func (p *push) decide(ctx context.Context) (Decision, error) {
	began, n := time.Now(), p.to
	if p.again() {
		p.metrics.observe(time.Since(began))
		return Decision{Node: p.name, Outcome: Admitted, Snapshot: p.snapshot}, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.options.Deadline, errDeadline)
	defer cancel()
	j := &judging{
		Gate: p.Gate, ctx: limited, node: p.name, had: n.base, pushing: n.pushes > 0, snapshot: p.snapshot, world: n.world,
		base: p.base, first: p.first, rejected: maps.Clone(p.rejected), err: p.err,
	}
	if n.enter(limited) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { <-n.judging }()
			j.run()
		}()
		select {
		case <-done:
		case <-limited.Done():
		}
		select {
		case <-done:
			n.base, n.world = j.known(), j.world
			p.base, p.first = j.base, j.first
		default:
		}
	}
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	p.metrics.observe(time.Since(began))
	v := j.conclude()
	p.out = v.out
	return v.Decision, nil
}

// again reports whether the gate has just sent the snapshot to another node, and found no error in it: then it is admitted whatever this
// node has. A fleet that shares its snapshots is decided about at the cost of one.
func (p *push) again() bool {
	n, sent := p.to, p.shared.last()
	if n.base == nil || n.pushes > 0 || p.err != nil || p.options.Hazards != nil || !isSame(sent.from, p.snapshot) || sent.world != n.world {
		return false
	}
	if held, err := p.GetSnapshot(p.name); err != nil || !isSame(held, n.base.from) || !sent.clean() {
		return false
	}
	p.base, p.first, p.out = n.base, false, sent
	return true
}

// known is what the node has, after judging has finished.
func (j *judging) known() *candidate {
	if j.first {
		return nil
	}
	return j.base
}

// conclude decides by what is known now.
func (j *judging) conclude() *verdict {
	v := j.progress.Load()
	if v != nil && v.whole {
		return v
	}
	if v == nil {
		v = j.unjudged()
	}
	late := *v
	late.TimedOut = true
	if j.options.FailClosed {
		late.Outcome, late.Withheld, late.Snapshot, late.out = Blocked, nil, nil, nil
	}
	return &late
}

// unjudged is the verdict as long as nothing is known of the snapshot, except for what the node rejected.
func (j *judging) unjudged() *verdict {
	if j.err != nil {
		return &verdict{Decision: Decision{Node: j.node, Outcome: Blocked, Rejected: j.err}}
	}
	return &verdict{Decision: Decision{Node: j.node, Outcome: Admitted, Snapshot: j.snapshot}}
}

// run judges the snapshot. It stores what it finds, and a panic, in progress.
func (j *judging) run() {
	defer func() {
		if p := recover(); p != nil {
			v := j.unjudged()
			if known := j.progress.Load(); known != nil { // what is known to be broken is not pushed
				copied := *known
				v = &copied
			}
			v.whole, v.Failures, v.Err = true, j.failures, fmt.Errorf("judging failed: %v", p)
			j.progress.Store(v)
		}
	}()
	if j.base == nil {
		j.base, j.first = j.before()
	}
	j.read()
	half, cancel := j.part(2)
	defer cancel()
	j.rulesOnly = true
	switch inTime := j.judge(half); {
	case !inTime:
		j.late()
	case !j.first && j.options.Hazards != nil:
		j.rulesOnly = false // a search for hazards that does not end in time must not lose what the rules have found
		j.judge(j.ctx)
	}
}

// read reads the snapshot. What is known about the same resources on another node is used, and what was equal before is not decoded again.
func (j *judging) read() {
	j.world = j.world.and(j.base.types()).and(typesOf(j.snapshot))
	like := j.base
	if j.first {
		like = j.shared.last()
	}
	if j.next = j.shared.find(j.snapshot, j.world); j.next == nil {
		j.next = read(j.snapshot, like).in(j.world, like.opinion)
	}
	j.base = j.base.in(j.world, like.opinion)
}

// judge judges the snapshot as a whole, and reports whether it finished before ctx ended.
func (j *judging) judge(ctx context.Context) (inTime bool) {
	j.failures = nil
	found, ok := j.find(ctx, j.next)
	var fresh []lint.Diagnostic
	if ok {
		fresh, ok = j.fresh(ctx, found)
	}
	if !ok {
		return false
	}
	j.failures = append(j.failures, j.next.failures...)
	v := verdict{whole: true, out: j.next, Decision: Decision{
		Node: j.node, Outcome: Admitted, New: fresh, Known: len(found) - len(fresh), Failures: j.failures, Err: j.panicked, Rejected: j.err, Snapshot: j.snapshot,
	}}
	switch j.strictest(fresh) {
	case Observe:
		if len(fresh) > 0 {
			v.Outcome = Observed
		}
	case Block:
		v.Outcome, v.Snapshot, v.out = Blocked, nil, nil
	case Quarantine:
		newQuarantine(j, v).run(fresh)
		return true
	}
	j.store(v)
	return true
}

// part returns a context that ends when one of so many parts of the remaining time has passed.
func (j *judging) part(of time.Duration) (context.Context, context.CancelFunc) {
	until, _ := j.ctx.Deadline()
	return context.WithTimeoutCause(j.ctx, time.Until(until)/of, errDeadline)
}

// store makes a verdict the result so far. Without the hazards of the push, it is not final.
func (j *judging) store(v verdict) {
	v.whole = v.whole && (!j.rulesOnly || j.options.Hazards == nil || j.first || v.TimedOut)
	j.progress.Store(&v)
}

// before returns what the node has: what the cache holds, or what is being pushed.
func (j *judging) before() (base *candidate, first bool) {
	if j.had != nil && j.pushing {
		return j.had, false
	}
	held, err := j.GetSnapshot(j.node)
	switch {
	case err != nil || gocp.None(held):
		return nothing(), true
	case j.had != nil && j.had.holds(held):
		return j.had, false
	}
	had := j.had
	if had == nil {
		had = j.shared.last()
	}
	return read(held, had), false
}

// find lists the errors in what could be pushed, and the hazards of pushing it. It reports whether it finished in time.
func (j *judging) find(ctx context.Context, next *candidate) ([]lint.Diagnostic, bool) {
	if !j.lint(ctx, next) {
		return nil, false
	}
	if j.first || j.rulesOnly || j.options.Hazards == nil {
		return next.errors, true
	}
	j.build(j.base)
	j.build(next)
	return slices.Concat(next.errors, j.hazards(next)), ctx.Err() == nil
}

// hazards lists the hazards of pushing a candidate; none if the check panics.
func (j *judging) hazards(next *candidate) (found []lint.Diagnostic) {
	defer func() {
		if p := recover(); p != nil {
			j.panicked = fmt.Errorf("looking for hazards failed: %v", p)
		}
	}()
	result := j.options.Hazards(j.base.versioned(), next.versioned())
	if result == nil {
		return nil
	}
	j.failures = append(j.failures, result.Failures...)
	return errorsIn(slices.Clone(result.Diagnostics))
}

// fresh picks the new errors. What the node has is judged only if there are errors at all.
func (j *judging) fresh(ctx context.Context, found []lint.Diagnostic) ([]lint.Diagnostic, bool) {
	if len(found) == 0 {
		return nil, true
	}
	if !j.lint(ctx, j.base) {
		return nil, false
	}
	fresh := pickNew(found, j.base)
	return report.Redacted(&lint.Result{Diagnostics: fresh}), true
}

// strictest returns the strictest policy for new errors. What the node rejected is withheld.
func (j *judging) strictest(fresh []lint.Diagnostic) Policy {
	strictest := Observe
	if len(j.rejected) > 0 {
		strictest = Quarantine
	}
	for i := range fresh {
		switch policy := j.options.policy(fresh[i].Rule); policy {
		case Block:
			return Block
		case Quarantine:
			strictest = Quarantine
		}
	}
	return strictest
}
