package webhook

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// identity identifies a finding independently of the length of the text above it.
type identity struct {
	rule           *lint.Rule
	kind           graph.Kind
	name           string
	where, message string // without the numbers that may be positions
}

func identityOf(d *lint.Diagnostic) identity {
	return identity{d.Rule, d.Resource.Kind, d.Resource.Name, words.WithoutNumbers(where(d)), words.WithoutNumbers(d.Message)}
}

// split separates new errors from those that the old object had. Of several equal errors, as many are known as the old object had.
// Errors of a rule that failed on the old object count as known.
func split(errors []lint.Diagnostic, before *lint.Result) (fresh, known []lint.Diagnostic) {
	silent := map[*lint.Rule]bool{}
	for _, failure := range before.Failures {
		silent[failure.Rule] = true
	}
	left := map[identity]int{}
	for _, d := range before.Diagnostics {
		if d.Severity == lint.Error {
			left[identityOf(&d)] += d.Count()
		}
	}
	for _, d := range errors {
		switch id := identityOf(&d); {
		case left[id] >= d.Count():
			left[id] -= d.Count()
			known = append(known, d)
		case silent[d.Rule]:
			known = append(known, d)
		default:
			fresh = append(fresh, d)
		}
	}
	return fresh, known
}
