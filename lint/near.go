package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/nearest"
)

// Nearest returns the candidate that is most similar to name, the first of several. It is empty if none is close enough for a typo, or
// if name is too long to be typed.
func Nearest(name string, candidates []string) string {
	return (&nearest.Finder{Work: nearest.Unlimited}).Name(name, candidates)
}

// searchWork bounds the searches of a rule for similar names: some hundred among a thousand names.
const searchWork = 50_000_000

// maxSearches is the number of names for which a rule looks for similar ones.
const maxSearches = 100

// searches are those of one rule in a snapshot, or of one pass over a resource.
type searches struct {
	finder nearest.Finder
	left   int
}

func newSearches() searches { return searches{nearest.Finder{Work: searchWork}, maxSearches} }

func (s *searches) nearest(name string, candidates func() []string) string {
	if s.left == 0 || s.finder.Work <= 0 {
		return ""
	}
	s.left--
	return s.finder.Name(name, candidates())
}

// Nearest is like the function Nearest, for candidates that may be as many as the input has names: a pass searches for a hundred names
// at most. It asks for the candidates only if it searches. A finding that only suggests the name has Diagnostic.Guess.
func (p *Pass) Nearest(name string, candidates func() []string) string {
	if p.Full() {
		return ""
	}
	return p.searches.nearest(name, candidates)
}

// guess is the search for the name that was probably meant.
type guess struct {
	name       string
	candidates func(graph.View) []string
	then       func(d *Diagnostic, near string)
}

// Guess lets the run search for the name that was probably meant, at the end, when it knows all findings: a rule searches for a hundred names
// at most in a snapshot. If one of the candidates is near, then completes the finding. Both functions can be called in a later run, and must not
// hold on to the Pass or to its Snapshot.
func (d *Diagnostic) Guess(name string, candidates func(graph.View) []string, then func(d *Diagnostic, near string)) {
	d.guess = &guess{name, candidates, then}
}

// guess completes the findings about names, in the order in which they are shown.
func (r *Result) guess(s *graph.Snapshot) {
	var all []*Diagnostic
	for i := range r.Diagnostics {
		if r.Diagnostics[i].guess != nil {
			all = append(all, &r.Diagnostics[i])
		}
	}
	slices.SortStableFunc(all, compare)
	byRule := map[*Rule]*searches{}
	for _, d := range all {
		g := d.guess
		d.guess = nil
		if byRule[d.Rule] == nil {
			made := newSearches()
			byRule[d.Rule] = &made
		}
		if near := byRule[d.Rule].nearest(g.name, func() []string { return g.candidates(s) }); near != "" {
			g.then(d, near)
		}
	}
}

// misspelt reports whether a name is certainly another one with a typo. Names such as svc-a and svc-b, or v1 and v2, are different.
func misspelt(name, near string) bool {
	apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	digits := func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}
	if strings.Map(digits, name) != strings.Map(digits, near) {
		return false
	}
	a, b := strings.FieldsFunc(name, apart), strings.FieldsFunc(near, apart)
	if len(a) != len(b) {
		a, b = []string{name}, []string{near}
	}
	for i := range a {
		if a[i] != b[i] && (min(len(a[i]), len(b[i])) < 4 || nearest.Distance(a[i], b[i], 2) > 2) {
			return false
		}
	}
	return true
}
