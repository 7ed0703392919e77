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

// shared is a value with the questions that it depends on.
type shared struct {
	value     any
	questions []graph.Question
}

func (w *worker) share(key any, compute func() any) any {
	s := w.shared[key]
	if s == nil {
		s = w.compute(compute)
		w.shared[key] = s
	}
	for _, q := range s.questions {
		w.note(q)
	}
	return s.value
}

// compute notes the questions apart from those of the rule that comes first.
func (w *worker) compute(compute func() any) *shared {
	into, asked, of := w.into, w.asked, w.of
	defer func() { w.into, w.asked, w.of = into, asked, of }()
	w.into, w.of = &judgement{}, unit{}
	if w.asking {
		w.asked = map[graph.Question]bool{}
	}
	value := compute()
	return &shared{value, w.into.questions}
}
