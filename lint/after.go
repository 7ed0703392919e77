package lint

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/layered"
)

// Judged is what a run has found out about a snapshot. It is not changed afterwards.
type Judged struct {
	snapshot *graph.Snapshot
	config   Config
	calls    *calls
	result   *Result
	units    layered.Map[unit, *judgement]                  // those with a finding or a question
	found    layered.Map[unit, *judgement]                  // those with a finding
	asked    layered.Map[graph.Question, layered.Set[unit]] // by whom
	whole    map[*Rule]*judgement
}

// RunAfter lints a snapshot as Run does. If it was made from the snapshot of an earlier run (graph.Snapshot.With), and the config is the same, only
// what changed is judged. The result is that of Run in any case. What was judged is nil if a later run cannot use it: ctx has ended, a built-in rule
// failed, there are too many findings to keep, or the config asks for Timings or has a Transition.
func RunAfter(ctx context.Context, s *graph.Snapshot, config Config, before *Judged) (*Result, *Judged) {
	if config.Timings || config.Transition != nil {
		return Run(ctx, []*graph.Snapshot{s}, config), nil
	}
	config = config.normal()
	if before == nil || !before.fits(config) {
		before = &Judged{config: config, calls: callsOf(config)}
	}
	if before.snapshot == s {
		return before.result.copy(), before
	}
	j := &Judged{snapshot: s, config: config, calls: before.calls}
	r := newRunner(s, config, j.calls)
	r.asking = true
	delta := s.Since(before.snapshot)
	if delta != nil {
		j.changed(ctx, r, before, delta)
	} else {
		j.all(ctx, r)
	}
	all := &Result{Snapshots: []*graph.Snapshot{s}, Target: config.Target, Profile: config.Profile}
	custom := customRules(ctx, all.Snapshots, config)
	if delta != nil && !r.lasting(custom) {
		r.Result = Result{}
		j.all(ctx, r)
	}
	r.complete(s)
	all.add(&r.Result)
	all.add(custom)
	all.close()
	Sort(all.Diagnostics)
	if !r.lasting(custom) || ctx.Err() != nil {
		return all, nil
	}
	j.result = all.copy()
	return all, j
}

// fits reports whether judgements hold for a config.
func (j *Judged) fits(config Config) bool {
	a := j.config
	return slices.Equal(a.Rules, config.Rules) && a.Target == config.Target && a.Profile == config.Profile && a.TargetGiven == config.TargetGiven && a.Clock == config.Clock &&
		slices.Equal(a.Fleet, config.Fleet) && maps.EqualFunc(a.FileTargets, config.FileTargets, slices.Equal) && maps.Equal(a.GRPCEnv, config.GRPCEnv)
}

// lasting reports whether each judgement holds without the others, in any order: no rule failed, and together with those of custom rules there are
// not so many findings that some are left out.
func (r *runner) lasting(custom *Result) bool {
	return len(r.Failures) == 0 && r.left == nil && custom.left == nil && r.weight+custom.weight <= maxFindings
}

// copy returns a result that can be changed.
func (r *Result) copy() *Result {
	copied := *r
	copied.Diagnostics = slices.Clone(r.Diagnostics)
	return &copied
}

// all judges everything.
func (j *Judged) all(ctx context.Context, r *runner) {
	units := unitsOf(r.snapshot.Resources)
	known, found, listed := map[unit]*judgement{}, map[unit]*judgement{}, map[graph.Question][]unit{}
	made, whole := r.everything(ctx, units)
	for i, one := range made {
		if one == nil {
			continue
		}
		known[units[i]] = one
		if !one.empty() {
			found[units[i]] = one
		}
		one.enlist(units[i], listed)
	}
	asked := make(map[graph.Question]layered.Set[unit], len(listed))
	for q, units := range listed {
		asked[q] = layered.SetOf(units)
	}
	j.units, j.found, j.asked = layered.Of(known), layered.Of(found), layered.Of(asked)
	j.whole = whole
}

// enlist lists a unit under each question of its judgement, once.
func (j *judgement) enlist(u unit, under map[graph.Question][]unit) {
	for _, one := range j.questions {
		if units := under[one.Question]; len(units) == 0 || units[len(units)-1] != u {
			under[one.Question] = append(units, u)
		}
	}
}

// changed judges what a change can have an effect on, and takes the rest from before.
func (j *Judged) changed(ctx context.Context, r *runner, before *Judged, delta *graph.Delta) {
	only := before.affected(delta)
	again := slices.Collect(maps.Keys(only))
	made := r.judge(ctx, again, only)
	for i, u := range again {
		if rules := only[u]; rules != nil {
			made[i] = before.units.Get(u).without(rules, j.config.Rules).and(made[i])
		}
	}
	j.replace(before, slices.Concat(unitsOf(delta.Removed), again), again, made)
	for _, one := range j.inOrder(r.snapshot) {
		r.add(one.now())
	}
	j.whole = r.whole(ctx, before.whole, delta)
	r.addWhole(j.whole)
}

// affected returns the units that must be judged again, without those of removed resources, and by which rules; nil: by all.
func (j *Judged) affected(delta *graph.Delta) map[unit][]bool {
	gone, again := removed(delta), map[unit][]bool{}
	all := func(u unit) {
		if !gone[u.Resource] {
			again[u] = nil
		}
	}
	for q := range delta.Touched {
		for u := range j.asked.Get(q).All {
			if again[u] == nil && !gone[u.Resource] {
				again[u] = j.askedBy(u, delta)
			}
		}
	}
	for _, u := range unitsOf(delta.Added) {
		all(u)
	}
	for q := range delta.Touched {
		if r := q.Of(); r != nil {
			all(unit{r, true})
		}
	}
	for u, one := range j.found.All {
		if one.lost(gone) {
			all(u)
		}
	}
	return again
}

// askedBy returns the rules that asked in a unit what a change touches.
func (j *Judged) askedBy(u unit, delta *graph.Delta) []bool {
	rules := make([]bool, len(j.config.Rules))
	for _, one := range j.units.Get(u).questions {
		if delta.Touched[one.Question] {
			rules[one.by] = true
		}
	}
	return rules
}

// without returns a judgement without what some rules found and asked. Its findings are where they are now.
func (j *judgement) without(rules []bool, all []*Rule) *judgement {
	left := map[*Rule]bool{}
	for i, out := range rules {
		if out {
			left[all[i]] = true
		}
	}
	kept := &judgement{pins: j.pins}
	for _, d := range j.Diagnostics {
		if !left[d.Rule] {
			kept.Diagnostics = append(kept.Diagnostics, d)
			kept.weight += d.weight()
		}
	}
	kept = &judgement{Result: *kept.now()}
	for _, one := range j.questions {
		if !rules[one.by] {
			kept.questions = append(kept.questions, one)
		}
	}
	return kept
}

// and adds what those rules found and asked again. More may be nil, and so is the result if there is nothing.
func (j *judgement) and(more *judgement) *judgement {
	if more != nil {
		j.add(&more.Result)
		j.questions = append(j.questions, more.questions...)
	}
	if j.empty() && len(j.questions) == 0 {
		return nil
	}
	j.pin()
	return j
}

// removed returns the resources that a change removes.
func removed(delta *graph.Delta) map[*graph.Resource]bool {
	gone := map[*graph.Resource]bool{}
	if delta != nil {
		for _, r := range delta.Removed {
			gone[r] = true
		}
	}
	return gone
}

// replace takes the judgements from before, except for some units, and adds the new ones of others.
func (j *Judged) replace(before *Judged, without, with []unit, made []*judgement) {
	j.units, j.found, j.asked = before.units.Copy(), before.found.Copy(), before.asked.Copy()
	dropped, added := map[graph.Question][]unit{}, map[graph.Question][]unit{}
	for _, u := range without {
		if known := before.units.Get(u); known != nil {
			j.units.Delete(u)
			j.found.Delete(u)
			known.enlist(u, dropped)
		}
	}
	for i, u := range with {
		one := made[i]
		if one == nil {
			continue
		}
		j.units.Set(u, one)
		if !one.empty() {
			j.found.Set(u, one)
		}
		one.enlist(u, added)
	}
	for q := range dropped {
		j.relist(q, dropped[q], added[q])
		delete(added, q)
	}
	for q, units := range added {
		j.relist(q, nil, units)
	}
}

// relist changes the units that asked a question.
func (j *Judged) relist(q graph.Question, dropped, added []unit) {
	if units := j.asked.Get(q).With(dropped, added); units.Empty() {
		j.asked.Delete(q)
	} else {
		j.asked.Set(q, units)
	}
}

// inOrder returns the judgements with findings in the order in which all judges them.
func (j *Judged) inOrder(s *graph.Snapshot) []*judgement {
	var units []unit
	for u := range j.found.All {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b unit) int {
		if by := cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)); by != 0 {
			return by
		}
		if a.Resource == b.Resource {
			return compareBool(a.around, b.around)
		}
		return cmp.Compare(slices.Index(s.Resources, a.Resource), slices.Index(s.Resources, b.Resource))
	})
	all := make([]*judgement, len(units))
	for i, u := range units {
		all[i] = j.found.Get(u)
	}
	return all
}

func compareBool(a, b bool) int {
	if a == b {
		return 0
	}
	if b {
		return -1
	}
	return 1
}
