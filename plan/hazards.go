package plan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Hazards returns what a plain push breaks for a target. A plain push sends all types at once and does not wait between them. A finding with
// severity Info is not a hazard, but worth knowing. A zero target means the default.
func Hazards(ctx context.Context, changes *graph.Changes, push lint.Push, target dataplane.Target) *lint.Result {
	return hazards(ctx, changes, push, target, rules.Transitional())
}

func hazards(ctx context.Context, changes *graph.Changes, push lint.Push, target dataplane.Target, by []*lint.Rule) *lint.Result {
	result := lint.Run(ctx, []*graph.Snapshot{changes.New}, lint.Config{
		Rules: by, Target: target, Transition: &lint.Transition{Changes: changes, Push: push},
	})
	result.Snapshots = []*graph.Snapshot{changes.Old, changes.New} // findings point into both
	return result
}

// Remaining returns the hazards that the plan cannot avoid for a target: it runs the rules on each change from one state of the plan to the
// next. A zero target means the default.
func (p *Plan) Remaining(ctx context.Context, target dataplane.Target) *lint.Result {
	if target == (dataplane.Target{}) {
		target = dataplane.Default()
	}
	way := p.planner
	if way == nil { // a plan that Make did not make: that of a first push
		return &lint.Result{Target: target}
	}
	push := way.opts.Push
	push.Versions = lint.Global
	remaining := &lint.Result{Snapshots: []*graph.Snapshot{way.changes.Old, way.changes.New}, Target: target}
	seen := map[lint.Key]bool{}
	add := func(step *lint.Result) {
		remaining.Failures = append(remaining.Failures, step.Failures...)
		for _, d := range step.Diagnostics {
			if d.Severity > lint.Info && !seen[d.Key()] && !way.temporary(d.Resource) {
				seen[d.Key()] = true
				remaining.Diagnostics = append(remaining.Diagnostics, d)
			}
		}
	}
	// A state has the versions of the two snapshots, whichever of its types is sent: only the snapshots can show that a version is missing.
	versions, others := rulesByScope()
	add(hazards(ctx, way.changes, way.opts.Push, target, versions))
	previous := way.changes.Old
	for _, state := range way.states[1:] {
		next := way.snapshot(state)
		add(hazards(ctx, graph.Diff(previous, next), push, target, others))
		previous = next
	}
	lint.Sort(remaining.Diagnostics)
	return remaining
}

// rulesByScope divides the transition rules into those about the two snapshots and those about each phase.
func rulesByScope() (snapshots, phases []*lint.Rule) {
	for _, rule := range rules.Transitional() {
		switch rule.Name {
		case "version-not-bumped":
			snapshots = append(snapshots, rule)
		case "cluster-changed-eds-not-resent": // the plan sends them again
		default:
			phases = append(phases, rule)
		}
	}
	return snapshots, phases
}

// temporary reports whether a resource exists for the plan only. What is found there is also found where it is replaced.
func (p *planner) temporary(r *graph.Resource) bool {
	for _, s := range []*graph.Snapshot{p.changes.Old, p.changes.New} {
		if r == nil || s.Find(r.Kind, graph.Anywhere, r.Name) != nil {
			return false
		}
	}
	return true
}

// Hitless reports whether no request fails and no connection is cut for a target (the zero one: the default) when the plan is carried out, as
// far as rules know. If not, the reasons say what does: the messages of Remaining.
func (p *Plan) Hitless(ctx context.Context, target dataplane.Target) (hitless bool, reasons []string) {
	for _, d := range p.Remaining(ctx, target).Diagnostics {
		reasons = append(reasons, d.Message)
	}
	return len(reasons) == 0, reasons
}

// snapshot returns the graph of a state. Its resources are in the order of the new snapshot, those that are not in that come last: most are the
// same, so that it need not be built from nothing.
func (p *planner) snapshot(s state) *graph.Snapshot {
	var resources, held []*graph.Resource
	for _, r := range p.changes.New.Resources {
		if !sendable(r.Kind) || r.Delivery != graph.OverXDS {
			resources = append(resources, r)
		} else if now := s.at(p.names.number(Resource{r.Kind, r.Name})); now != nil {
			resources = append(resources, now)
		}
	}
	for number, r := range s {
		if at := p.names.all[number]; r != nil && p.changes.New.Pushed(at.Kind, at.Name) == nil {
			held = append(held, r)
		}
	}
	slices.SortFunc(held, func(a, b *graph.Resource) int {
		return cmp.Or(rank(a.Kind)-rank(b.Kind), strings.Compare(a.Name, b.Name))
	})
	return p.changes.New.With(append(resources, held...))
}
