package admission

import (
	"strings"

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
	return defect{d.Rule, d.Resource.Kind, d.Resource.Name, withoutNumbers(d.Message)}
}

// withoutNumbers leaves the numbers outside of quotes out of a message. In quotes stand names.
func withoutNumbers(message string) string {
	if !strings.ContainsAny(message, "0123456789") {
		return message
	}
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range []byte(message) {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = quoted
		case c == '"':
			quoted = !quoted
		}
		if quoted || c < '0' || c > '9' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// silence is a rule that failed, so that nothing is known of what it finds: on one resource, or (nil) on a whole snapshot.
type silence struct {
	rule *lint.Rule
	key  key
}

// pickFresh picks the errors that are not in what the node has. As often as a defect is there already, it is known, in the same place rather
// than in another. What a rule finds that failed on what the node has may have been there as well.
func pickFresh(found []lint.Diagnostic, base *judged) []lint.Diagnostic {
	silent := silences(base.failures)
	known, places := map[defect]int{}, map[defect]map[string]int{}
	for i := range base.errors {
		at, path := defectOf(&base.errors[i]), base.errors[i].Path.String()
		if places[at] == nil {
			places[at] = map[string]int{}
		}
		known[at]++
		places[at][path]++
	}
	var moved, all []lint.Diagnostic
	for _, d := range found {
		at, path := defectOf(&d), d.Path.String()
		k, _ := keyOf(d.Resource)
		switch {
		case silent[silence{d.Rule, key{}}] || silent[silence{d.Rule, k}]:
		case places[at][path] > 0:
			places[at][path]--
			known[at]--
		default:
			moved = append(moved, d)
		}
	}
	for _, d := range moved {
		if at := defectOf(&d); known[at] > 0 {
			known[at]--
		} else {
			all = append(all, d)
		}
	}
	return all
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
