package lint

import (
	"strings"
	"unicode"

	"github.com/xdslint/xdslint/internal/nearest"
)

// Nearest returns the candidate that is most similar to name, the first of several. It is empty if none is close enough for a typo, or
// if name is too long to be typed.
func Nearest(name string, candidates []string) string {
	return (&nearest.Finder{Work: nearest.Unlimited}).Name(name, candidates)
}

// searchWork bounds the searches of a pass for similar names: some hundred among a thousand names.
const searchWork = 50_000_000

// maxSearches is the number of names for which a pass looks for similar ones.
const maxSearches = 100

// Nearest is like the function Nearest, for candidates that may be as many as the input has names: a pass searches for a hundred names
// at most. It asks for the candidates only if it searches.
func (p *Pass) Nearest(name string, candidates func() []string) string {
	if p.Full() || p.searches == maxSearches || p.finder.Work <= 0 {
		return ""
	}
	p.searches++
	return p.finder.Name(name, candidates())
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
