package admission

import (
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// defect is what stays of an error while lists shift around it: no path, and no number that could be an index.
type defect struct {
	rule    *lint.Rule
	kind    graph.Kind
	name    string
	message string
}

func defectOf(d *lint.Diagnostic) defect {
	return defect{d.Rule, d.Resource.Kind, d.Resource.Name, lint.WithoutNumbers(d.Message)}
}

// silence is a rule that failed, so that nothing is known of what it finds: on one resource, or (nil) on a whole snapshot.
type silence struct {
	rule *lint.Rule
	key  key
}

// pickFresh picks the errors that are not in what the node has. As often as a defect is there already, it is known: first in the same place, then
// in any other. What is wrong with resources that have not changed can also be told in other words, where one of them goes away. And what a rule
// finds that failed on what the node has may have been there as well.
func pickFresh(found []lint.Diagnostic, base *judged) []lint.Diagnostic {
	silent := silences(base.failures)
	fresh := slices.DeleteFunc(slices.Clone(found), func(d lint.Diagnostic) bool {
		k, _ := keyOf(d.Resource)
		return silent[silence{d.Rule, key{}}] || silent[silence{d.Rule, k}] || slices.Contains(base.unable, d.Rule.Origin)
	})
	known := base.errors
	for _, trait := range []func(*lint.Diagnostic) any{
		func(d *lint.Diagnostic) any { return [2]any{defectOf(d), d.Path.String()} },
		func(d *lint.Diagnostic) any { return defectOf(d) },
		func(d *lint.Diagnostic) any {
			changed := func(r lint.Related) bool { return base.lacks(r.Resource) }
			if base.lacks(d.Resource) || slices.ContainsFunc(d.Related, changed) {
				return nil
			}
			return [4]any{d.Rule, d.Resource.Kind, d.Resource.Name, d.Path.String()}
		},
	} {
		fresh, known = unmatched(fresh, known, trait)
	}
	return fresh
}

// lacks tells whether a resource is new, or has changed.
func (j *judged) lacks(r *graph.Resource) bool {
	if r == nil {
		return false
	}
	k, ours := keyOf(r)
	was := j.resources[k]
	return ours && (was == nil || !graph.Equal(was, r))
}

// unmatched pairs off errors that have a trait in common, and returns those of both sides that stay alone.
func unmatched(fresh, known []lint.Diagnostic, trait func(*lint.Diagnostic) any) (_, _ []lint.Diagnostic) {
	by := map[any][]int{}
	for i := range known {
		if t := trait(&known[i]); t != nil {
			by[t] = append(by[t], i)
		}
	}
	matched := map[int]bool{}
	fresh = slices.DeleteFunc(fresh, func(d lint.Diagnostic) bool {
		t := trait(&d)
		same := by[t]
		if len(same) == 0 {
			return false
		}
		matched[same[0]], by[t] = true, same[1:]
		return true
	})
	var alone []lint.Diagnostic
	for i, d := range known {
		if !matched[i] {
			alone = append(alone, d)
		}
	}
	return fresh, alone
}

func silences(failures []*lint.Failure) map[silence]bool {
	all := map[silence]bool{}
	for _, f := range failures {
		var at key
		if f.Resource != nil {
			at, _ = keyOf(f.Resource)
		}
		all[silence{f.Rule, at}] = true
	}
	return all
}
