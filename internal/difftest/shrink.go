package difftest

import (
	"context"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// envoyCalls limits how often Envoy runs to shrink one case.
const envoyCalls = 80

// shrinker removes the parts of a configuration that a disagreement does not depend on.
type shrinker struct {
	judges
	ctx   context.Context
	want  *Case
	root  *value
	calls int
	err   error
}

// shrink makes a case with a disagreement smaller, as long as the disagreement stays the same.
func shrink(ctx context.Context, j judges, c *Case) error {
	s := &shrinker{judges: j, ctx: ctx, want: c, root: c.root}
	s.value(s.root)
	return s.err
}

// value removes items of a container, in halves, quarters and so on, and then continues in those that are left.
func (s *shrinker) value(v *value) {
	for size := len(v.items); size > 0; size /= 2 {
		for from := len(v.items) - size; from > -size; from -= size {
			s.remove(v, max(from, 0), min(from+size, len(v.items)))
		}
	}
	for _, item := range v.items {
		s.value(item)
	}
}

// remove removes items permanently if the disagreement stays the same without them.
func (s *shrinker) remove(v *value, from, to int) {
	if s.err != nil || from >= to || to > len(v.items) {
		return
	}
	before := *v
	smaller := before
	smaller.items = append(append([]*value(nil), v.items[:from]...), v.items[to:]...)
	if v.keys != nil {
		smaller.keys = append(append([]string(nil), v.keys[:from]...), v.keys[to:]...)
	}
	*v = smaller
	if !s.same() {
		*v = before
	}
}

// same asks xdslint first, which takes much less time than Envoy.
func (s *shrinker) same() bool {
	if s.calls >= envoyCalls {
		return false
	}
	text := s.root.yaml()
	var a Answer
	a.Reasons, s.err = s.xdslint(s.ctx, text)
	wantRejected := len(s.want.Reasons) > 0
	if s.err != nil || (len(a.Reasons) > 0) != wantRejected || wantRejected && a.Reasons[0].Rule != s.want.Reasons[0].Rule {
		return false
	}
	s.calls++
	a.Envoy, s.err = s.envoy(s.ctx, text)
	if s.err != nil || a.outcome() != s.want.outcome() {
		return false
	}
	if a.Envoy.Outcome == envoytest.Reject && normalise(a.Envoy.Message, s.root) != s.want.message {
		return false
	}
	s.want.Answer = a
	return true
}
