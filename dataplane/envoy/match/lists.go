package match

import (
	"iter"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Lists compares which routes of two lists take the same request. Each list is tried in order.
//
// The paths are divided into cells: sets of paths that all plain path matchers of both lists treat alike. In each cell, the other matchers are true or
// false by the values of headers and the like (worlds.go). What cannot be computed, such as two regular expressions, can be true or false at will. So no
// request is left out, but not every combination has an example.
type Lists struct {
	A, B *Routes
	// Twins has, for each route of A, the route of B with the same match and the same effect, or -1. Twins have the same order in both lists.
	Twins []int
	// Alike reports whether a request is treated alike if it takes route a of A and route b of B. -1 means that no route takes it.
	Alike func(a, b int) bool
	// Share reports whether all requests are in a part of the traffic, or none, or perhaps some.
	Share func(key string, numerator, denominator uint64) Overlap
	// IgnoresParameters reports whether the tables ignore the parameters of paths.
	IgnoresParameters bool
	// Paths and Headers (by name) are values to try where a matcher can only be asked. They are sorted.
	Paths   []string
	Headers map[string][]string

	literals map[string]bool
	lower    []lowered // the literals, ordered by their lower case
	unclear  [2][]int  // routes whose paths are more than literals
	original []int     // the twin in A of each route of B, or -1
	spent    int       // on worlds
}

type lowered struct{ lower, literal string }

// Parting is a pair of routes that are not alike: a request may take A in the first list and B in the second one. -1 means that no
// route takes it.
type Parting struct {
	A, B    int
	Example *Example // of such a request; nil: it is not known whether there is one
}

// Example has what routes look at in a request.
type Example struct {
	Path                        string
	Connect, Pathless           bool
	Headers, Parameters, Cookie [][2]string
	Certificate                 map[string]bool // properties of the client's certificate
}

// cell is a set of paths: one path, or all paths that begin with a literal, are longer, and do not begin with a longer literal.
type cell struct {
	literal  string
	beyond   bool
	pathless bool
}

// Partings yields pairs of routes that are not alike and that a request may take. A pair can come several times, with different examples. complete is
// false if there were too many combinations, so that pairs may be missing.
func (l *Lists) Partings() iter.Seq2[Parting, bool] {
	return func(yield func(p Parting, complete bool) bool) {
		l.prepare()
		seen := map[cell]bool{}
		visit := func(c cell) bool {
			if seen[c] {
				return true
			}
			seen[c] = true
			return l.compareAt(c, yield)
		}
		for _, r := range l.single() {
			for c := range l.cellsOf(r) {
				if !visit(c) {
					return
				}
			}
		}
	}
}

// single returns the routes without a twin. Only they matter: if two twins take a request, it is treated alike, and if a twin takes it in one list, only
// a single route can take it before the other twin.
func (l *Lists) single() (all []*Route) {
	for i, twin := range l.Twins {
		if twin < 0 {
			all = append(all, l.A.At(i))
		}
	}
	for j, twin := range l.original {
		if twin < 0 {
			all = append(all, l.B.At(j))
		}
	}
	return all
}

func (l *Lists) prepare() {
	l.original = make([]int, l.B.Len())
	for j := range l.original {
		l.original[j] = -1
	}
	for i, j := range l.Twins {
		if j >= 0 {
			l.original[j] = i
		}
	}
	l.literals = map[string]bool{"/": true}
	for side, list := range []*Routes{l.A, l.B} {
		for i, r := range list.all {
			unclear := false
			for _, t := range r.paths {
				if t.plain() {
					l.literals[t.literal] = true
				} else {
					unclear = true
				}
			}
			if unclear {
				l.unclear[side] = append(l.unclear[side], i)
			}
		}
	}
	delete(l.literals, "") // every path begins with a slash
	for literal := range l.literals {
		l.lower = append(l.lower, lowered{ascii.Lower(literal), literal})
	}
	slices.SortFunc(l.lower, func(a, b lowered) int {
		return cmpLowered(a, b)
	})
}

// beginning returns the values to try whose longest literal is a given one. They are looked up when they are needed: large configurations have thousands
// of pairs of lists, and the same values for each.
func (l *Lists) beginning(literal string) (all []string) {
	first, _ := slices.BinarySearch(l.Paths, literal)
	for _, p := range l.Paths[first:] {
		if !strings.HasPrefix(p, literal) {
			break
		}
		if l.longest(p) == literal {
			all = append(all, p)
		}
	}
	return all
}

func cmpLowered(a, b lowered) int {
	if n := strings.Compare(a.lower, b.lower); n != 0 {
		return n
	}
	return strings.Compare(a.literal, b.literal)
}

// plain reports whether the text is a literal, in its case.
func (t text) plain() bool { return (t.form == is || t.form == begins) && !t.fold }

// longest returns the longest literal with which a path begins.
func (l *Lists) longest(p string) string {
	for n := len(p); n > 0; n-- {
		if l.literals[p[:n]] {
			return p[:n]
		}
	}
	return ""
}

// cellsOf yields cells that have all paths of a route.
func (l *Lists) cellsOf(r *Route) iter.Seq[cell] {
	return func(yield func(cell) bool) {
		if r.connect && !yield(cell{pathless: true}) {
			return
		}
		head := r.head()
		for n := 1; n < len(head); n++ { // what begins with the head can have a shorter literal
			at, _ := slices.BinarySearchFunc(l.lower, lowered{head[:n], ""}, cmpLowered)
			for ; at < len(l.lower) && l.lower[at].lower == head[:n]; at++ {
				if !yield(cell{literal: l.lower[at].literal, beyond: true}) {
					return
				}
			}
		}
		at, _ := slices.BinarySearchFunc(l.lower, lowered{head, ""}, cmpLowered)
		for ; at < len(l.lower) && strings.HasPrefix(l.lower[at].lower, head); at++ {
			literal := l.lower[at].literal
			if !yield(cell{literal: literal}) || !yield(cell{literal: literal, beyond: true}) {
				return
			}
		}
	}
}

// compareAt yields the pairs of one cell.
func (l *Lists) compareAt(c cell, yield func(Parting, bool) bool) bool {
	sample, ok := l.sampleOf(c)
	if !ok && !c.pathless {
		return yield(Parting{-1, -1, nil}, false)
	}
	a, b := l.relevant(0, c, sample), l.relevant(1, c, sample)
	if l.settled(a, b) {
		return true
	}
	return newWorlds(l, c, sample, a, b).compare(yield)
}

// sampleOf returns a path of a cell.
func (l *Lists) sampleOf(c cell) (string, bool) {
	if !c.beyond {
		return c.literal, true
	}
	for _, more := range []string{"x", "~", "x~", "0~", "Z~", "-~", "_~", "~~", ".~", "/~"} {
		if sample := c.literal + more; l.longest(sample) == c.literal {
			return sample, true
		}
	}
	return "", false
}

// relevant returns the routes of a list that may take a request of a cell, in order. Routes after one that certainly takes it are left out.
func (l *Lists) relevant(side int, c cell, sample string) (all []int) {
	list := []*Routes{l.A, l.B}[side]
	candidates := slices.Concat(list.Candidates(sample), l.unclear[side])
	slices.Sort(candidates)
	for _, i := range slices.Compact(candidates) {
		r := list.At(i)
		fits := l.fitsCell(r, c)
		shares := l.shares(r)
		if both(fits, shares) == No {
			continue
		}
		all = append(all, i)
		if both(fits, shares) == Yes && !r.connect && len(r.conditions) == 0 && !r.vague && !r.passes {
			break
		}
	}
	return all
}

// shares reports whether all requests are in the part of the traffic that a route takes.
func (l *Lists) shares(r *Route) Overlap {
	if r.share == nil {
		return Yes
	}
	return l.Share(r.share.key, r.share.numerator, r.share.denominator)
}

// fitsCell reports whether all paths of a cell fit a route, or none, or perhaps some.
func (l *Lists) fitsCell(r *Route, c cell) Overlap {
	if r.connect {
		return Yes
	}
	fits := No
	for _, t := range r.paths {
		fits = either(fits, l.onCell(t, c))
	}
	return fits
}

// onCell reports whether all paths of a cell are in a set, or none, or perhaps some.
func (l *Lists) onCell(t text, c cell) Overlap {
	template := l.IgnoresParameters && strings.HasPrefix(t.same, templatePrefix)
	switch {
	case c.pathless:
		return No
	case !c.beyond && !template:
		return t.holds(c.literal)
	case t.form == other && strings.HasPrefix(t.literal, c.literal):
		return both(Perhaps, certain(!c.beyond || l.longest(t.literal) == c.literal))
	case t.form == other:
		return both(Perhaps, certain(strings.HasPrefix(c.literal, t.literal)))
	}
	literal := c.literal
	if t.fold {
		literal = ascii.Lower(literal)
	}
	switch {
	case t.form == begins && strings.HasPrefix(literal, t.literal):
		return Yes
	case t.fold && strings.HasPrefix(t.literal, literal):
		return Perhaps
	}
	return No
}

// settled reports whether the routes of a cell cannot part: they are twins, or all are alike.
func (l *Lists) settled(a, b []int) bool {
	twins := len(a) == len(b)
	for n := 0; twins && n < len(a); n++ {
		twins = l.Twins[a[n]] == b[n]
	}
	if twins {
		return true
	}
	for _, i := range append(slices.Clone(a), -1) {
		for _, j := range append(slices.Clone(b), -1) {
			if !l.Alike(i, j) {
				return false
			}
		}
	}
	return true
}

// route returns a route of a side. Of twins, it is that of A, so that what they ask is the same.
func (l *Lists) route(side, i int) *Route {
	if side == 0 {
		return l.A.At(i)
	}
	if twin := l.original[i]; twin >= 0 {
		return l.A.At(twin)
	}
	return l.B.At(i)
}
