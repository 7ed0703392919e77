package lint

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/parallel"
)

// unit is a part of a run that is judged by itself: the messages of a resource, or what is around them.
type unit struct {
	*graph.Resource
	around bool
}

func unitsOf(resources []*graph.Resource) []unit {
	units := make([]unit, 0, 2*len(resources))
	for _, r := range resources {
		units = append(units, unit{r, false}, unit{r, true})
	}
	return units
}

// judgement is what was found in a unit. That of a rule holds as long as the answers to its questions do.
type judgement struct {
	Result
	questions []asked
	index     atomic.Pointer[map[graph.Question]bool] // the questions, once the judgement has outlasted a change
	pins      []pin                                   // of its findings, if questions are noted
}

// asked is a question and the rule that asked it, an index of Config.Rules.
type asked struct {
	graph.Question
	by int
}

// asks reports whether a change touches one of the questions. The judgement of a rule over a large snapshot has a question for each resource.
func (j *judgement) asks(touched map[graph.Question]bool) bool {
	if index := j.index.Load(); index != nil {
		for q := range touched {
			if (*index)[q] {
				return true
			}
		}
		return false
	}
	index := make(map[graph.Question]bool, len(j.questions))
	for _, q := range j.questions {
		if touched[q.Question] {
			return true
		}
		index[q.Question] = true
	}
	j.index.Store(&index)
	return false
}

// judge judges units, several at a time, and returns their judgements: nil for a unit without findings and questions. Only says which rules
// judge a unit, if not all do.
func (r *runner) judge(ctx context.Context, units []unit, only map[unit][]bool) []*judgement {
	c := &collector{results: make([]*judgement, len(units)), done: make([]bool, len(units))}
	parallel.Each(ctx, len(units), func() func(int) {
		w := newWorker(ctx, r)
		return func(i int) {
			w.only = only[units[i]]
			c.add(i, w.unit(units[i], c.full()))
		}
	})
	r.add(&c.out)
	return c.results
}

// worker judges one unit after the other. A pass lasts as long as the worker, and keeps nothing from earlier units.
type worker struct {
	*runner
	ctx    context.Context
	view   graph.View
	passes []*Pass // of runner.config.Rules
	begun  []int   // in which unit each pass was used last
	units  int
	of     unit
	into   *judgement
	walker graph.Walker
	only   []bool            // the rules that judge this unit; nil: all
	rule   int               // that judges
	asked  map[asked]bool    // in this unit
	heard  *[]graph.Question // what is asked for a value that several rules need; nil: no such value is computed
	shared map[any]*shared

	place   *graph.Place     // of the message that is judged
	here    map[about]shared // about that message
	outside map[about]shared // about the messages that it is in
}

func newWorker(ctx context.Context, r *runner) *worker {
	w := &worker{runner: r, ctx: ctx, view: r.snapshot, passes: make([]*Pass, len(r.config.Rules)), begun: make([]int, len(r.config.Rules)), into: &judgement{}, shared: map[any]*shared{}, here: map[about]shared{}, outside: map[about]shared{}}
	if r.asking {
		w.asked = map[asked]bool{}
		w.view = r.snapshot.Asked(w.note)
	}
	return w
}

func (w *worker) pass(rule *Rule, into *Result) *Pass {
	p := newPass(w.ctx, rule, w.view, w.config, into)
	p.worker = w
	return p
}

func (w *worker) note(q graph.Question) {
	if w.heard != nil {
		*w.heard = append(*w.heard, q)
	}
	if q.Of() == w.of.Resource && w.of.around {
		return // is judged again in any case
	}
	if one := (asked{q, w.rule}); !w.asked[one] {
		w.asked[one] = true
		w.into.questions = append(w.into.questions, one)
	}
}

// unit judges a unit.
func (w *worker) unit(u unit, filled map[*Rule]bool) *judgement {
	w.of, w.into.filled = u, filled
	clear(w.asked)
	w.units++
	if u.around {
		w.around(u.Resource)
	} else {
		w.messages(u.Resource)
	}
	made := w.into
	if made.empty() && len(made.questions) == 0 {
		return nil
	}
	if w.asking {
		made.pin()
	}
	w.into = &judgement{}
	return made
}

// detach makes the findings independent of the memory of the walk.
func (w *worker) detach() {
	for i := range w.into.Diagnostics {
		d := &w.into.Diagnostics[i]
		d.Path = (*graph.Path)(nil).Join(d.Path)
		for k := range d.Related {
			d.Related[k].Path = (*graph.Path)(nil).Join(d.Related[k].Path)
		}
		if d.guess != nil { // it will look at its place
			w.walker = graph.Walker{}
		}
	}
}

// messages judges each message of a resource by the rules for its type.
func (w *worker) messages(r *graph.Resource) {
	passing := w.walker.Walk(r, func(at *graph.Place) {
		if w.ctx.Err() != nil {
			return
		}
		w.visit(at)
		m := at.Message.Interface() // once, as it takes longer than most rules
		for _, i := range w.applying(at.Message.Descriptor()) {
			w.call(i, r, func(p *Pass) { p.Rule.Run.each(p, at.At(), m) })
		}
	})
	w.visited()
	if passing {
		w.detach()
	}
}

// around judges a resource as a whole, its problems, and the references that it holds.
func (w *worker) around(r *graph.Resource) {
	for _, some := range [][]resourceCall{w.everywhere, w.byKind[r.Kind]} {
		for _, c := range some {
			w.call(c.rule, r, func(p *Pass) { c.resource(p, r) })
		}
	}
	for _, problem := range r.Problems {
		for _, c := range w.byProblem[problem.Kind] {
			w.call(c.rule, r, func(p *Pass) { c.problem(p, r, problem) })
		}
	}
	for _, e := range w.snapshot.From(r) {
		if w.ctx.Err() != nil {
			return
		}
		for _, c := range w.byEdge[e.Kind] {
			w.call(c.rule, r, func(p *Pass) { c.edge(p, e) })
		}
	}
}

// call calls a rule with its pass, unless it does not judge parts of messages and the resource is one.
func (w *worker) call(i int, r *graph.Resource, f func(*Pass)) {
	rule := w.config.Rules[i]
	if w.only != nil && !w.only[i] || r.Fragment && !rule.Fragments {
		return
	}
	w.rule = i
	if w.passes[i] == nil {
		w.passes[i] = w.pass(rule, nil)
	}
	p := w.passes[i]
	if w.begun[i] != w.units {
		w.begun[i] = w.units
		p.begin(&w.into.Result)
	}
	defer w.into.contain(rule, w.snapshot, r)
	if w.config.Timings {
		defer w.into.measure(rule, time.Now())
	}
	f(p)
}

// calls are the rules of a run by what they are called with. They are indices of Config.Rules.
type calls struct {
	messages   []int
	everywhere []resourceCall
	byKind     map[graph.Kind][]resourceCall
	byProblem  map[graph.ProblemKind][]problemCall
	byEdge     map[graph.Kind][]edgeCall
	whole      []int
	byType     sync.Map // protoreflect.MessageDescriptor → []int: those of messages that apply
}

type resourceCall struct {
	rule     int
	resource func(*Pass, *graph.Resource)
}

type problemCall struct {
	rule    int
	problem func(*Pass, *graph.Resource, graph.Problem)
}

type edgeCall struct {
	rule int
	edge func(*Pass, *graph.Edge)
}

// ofResources reports whether a rule is called with resources, or with parts of them.
func (c *calls) ofResources() bool {
	return len(c.messages)+len(c.everywhere)+len(c.byKind)+len(c.byProblem)+len(c.byEdge) > 0
}

func callsOf(config Config) *calls {
	c := &calls{byKind: map[graph.Kind][]resourceCall{}, byProblem: map[graph.ProblemKind][]problemCall{}, byEdge: map[graph.Kind][]edgeCall{}}
	for i, rule := range config.Rules {
		run := &rule.Run
		if run.each != nil {
			c.messages = append(c.messages, i)
		}
		if run.whole != nil || run.between != nil && config.Transition != nil {
			c.whole = append(c.whole, i)
		}
		for _, check := range run.resources {
			if len(check.kinds) == 0 {
				c.everywhere = append(c.everywhere, resourceCall{i, check.f})
			}
			for _, kind := range check.kinds {
				c.byKind[kind] = append(c.byKind[kind], resourceCall{i, check.f})
			}
		}
		for _, check := range run.problems {
			for _, kind := range check.kinds {
				c.byProblem[kind] = append(c.byProblem[kind], problemCall{i, check.f})
			}
		}
		for _, check := range run.edges {
			c.byEdge[check.kind] = append(c.byEdge[check.kind], edgeCall{i, check.f})
		}
	}
	return c
}

// applying returns the indices of the rules for messages of a type.
func (r *runner) applying(md protoreflect.MessageDescriptor) []int {
	if known, ok := r.byType.Load(md); ok {
		return known.([]int)
	}
	found := []int{}
	for _, i := range r.calls.messages {
		if r.config.Rules[i].Run.applies(r.config.Target, md) {
			found = append(found, i)
		}
	}
	r.byType.Store(md, found)
	return found
}
