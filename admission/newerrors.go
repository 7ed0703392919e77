package admission

import (
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// defect identifies an error without what changes when lists shift: the path, and numbers that can be indices.
type defect struct {
	rule    *lint.Rule
	kind    graph.Kind
	name    string
	message string
}

func defectOf(d *lint.Diagnostic) defect {
	return defect{d.Rule, d.Resource.Kind, d.Resource.Name, words.WithoutNumbers(d.Message)}
}

// failedRule is a rule that failed on one resource, or with an empty key on a whole snapshot. What it would have found is not known.
type failedRule struct {
	rule *lint.Rule
	key  key
}

// pickNew picks the errors that the node does not have yet. Each known defect accounts for one equal error: in the same place first, then in any
// other place. In unchanged resources, an error with the same rule and path is known even if its message differs: it does when a related
// resource is removed. Errors of a rule that failed on what the node has are not new either, since the node may have had them before.
func pickNew(found []lint.Diagnostic, base *candidate) []lint.Diagnostic {
	failed := failedRules(base.failures)
	fresh := slices.DeleteFunc(slices.Clone(found), func(d lint.Diagnostic) bool {
		k, _ := keyOf(d.Resource)
		return failed[failedRule{d.Rule, key{}}] || failed[failedRule{d.Rule, k}] || slices.Contains(base.unable, d.Rule.Origin) ||
			d.More > 0 && d.More <= leftOut(base.errors, d.Rule)
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

// leftOut returns how many errors of a rule are not listed.
func leftOut(known []lint.Diagnostic, rule *lint.Rule) (n int) {
	for _, d := range known {
		if d.Rule == rule {
			n += d.More
		}
	}
	return n
}

// lacks reports whether a resource is new or has changed.
func (c *candidate) lacks(r *graph.Resource) bool {
	if r == nil {
		return false
	}
	k, ours := keyOf(r)
	was := c.at(k)
	return ours && (was == nil || !graph.Equal(was, r))
}

// unmatched pairs errors that have the same trait, and returns those of both sides that have no partner.
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
		if len(same) == 0 || d.More > 0 {
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

func failedRules(failures []*lint.Failure) map[failedRule]bool {
	all := map[failedRule]bool{}
	for _, f := range failures {
		var at key
		if f.Resource != nil {
			at, _ = keyOf(f.Resource)
		}
		all[failedRule{f.Rule, at}] = true
	}
	return all
}
