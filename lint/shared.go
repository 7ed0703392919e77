package lint

import "github.com/xdslint/xdslint/graph"

// Shared returns a value that several rules need, or one rule for several resources: each worker of a run computes it once for each key, which is of a
// type of the caller's own. What compute asks of the snapshot counts as asked by each of these rules. It must not report.
func Shared[V any](p *Pass, key any, compute func() V) V {
	if p.worker == nil {
		return compute()
	}
	return p.worker.share(key, func() any { return compute() }).(V)
}

// Here returns a value about a message that several rules need: the first of them computes it. A rule that is called with the message, or with one
// inside it, passes the place of the message. The key is of a type of the caller's own. compute must not report.
func Here[V any](p *Pass, key any, at *graph.Place, compute func() V) V {
	w := p.worker
	if w == nil || w.place == nil || at.Resource != w.place.Resource {
		return compute()
	}
	values := w.here
	if at != w.place {
		values = w.outside
	}
	known, ok := values[about{at, key}]
	if !ok {
		known = w.listen(func() any { return compute() })
		values[about{at, key}] = known
	} else {
		w.noteAll(known.questions)
	}
	return known.value.(V)
}

// about is what a value of Here is known by.
type about struct {
	place *graph.Place
	key   any
}

// visit begins with the next message.
func (w *worker) visit(at *graph.Place) {
	w.place = at
	if len(w.here) > 0 {
		clear(w.here)
	}
}

// visited ends a walk: the next resource can have its places where those of this one were.
func (w *worker) visited() {
	w.visit(nil)
	if len(w.outside) > 0 {
		clear(w.outside)
	}
}

// shared is a value with the questions that it depends on.
type shared struct {
	value     any
	questions []graph.Question
}

// noteAll notes what a value depends on, for a rule that did not compute it.
func (w *worker) noteAll(questions []graph.Question) {
	for _, q := range questions {
		w.note(q)
	}
}

// listen computes a value, whose questions count for the rule that judges.
func (w *worker) listen(compute func() any) shared {
	if !w.asking {
		return shared{value: compute()}
	}
	var questions []graph.Question
	around := w.heard
	w.heard = &questions
	defer func() { w.heard = around }() // also if it panics
	value := compute()
	if around != nil {
		*around = append(*around, questions...)
	}
	return shared{value, questions}
}

func (w *worker) share(key any, compute func() any) any {
	s := w.shared[key]
	if s == nil {
		s = w.compute(compute)
		w.shared[key] = s
	}
	w.noteAll(s.questions)
	return s.value
}

// compute notes the questions apart from those of the rule that comes first.
func (w *worker) compute(compute func() any) *shared {
	into, known, of, place := w.into, w.asked, w.of, w.place
	defer func() { w.into, w.asked, w.of, w.place = into, known, of, place }()
	w.into, w.of, w.place = &judgement{}, unit{}, nil
	if w.asking {
		w.asked = map[asked]bool{}
	}
	around := w.heard
	w.heard = nil
	defer func() { w.heard = around }()
	value := compute()
	s := &shared{value: value}
	for _, one := range w.into.questions {
		s.questions = append(s.questions, one.Question)
	}
	return s
}
