package match

import (
	"slices"
	"strings"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

type form int

const (
	is form = iota
	begins
	ends
	contains
	other // a regular expression, or not known
)

// text is a set of strings as one matcher describes it (StringMatcherImpl in source/common/common/matchers.h).
type text struct {
	form    form
	literal string // for other: the common beginning of all strings
	fold    bool   // the case of ASCII letters does not matter; literal is then in lower case
	same    string // for other: matchers with the same text here match the same strings; empty: not known
	check   func(string) Overlap
}

var anything = text{form: begins}

func (t text) isAnything() bool { return t.form == begins && t.literal == "" }

func newText(f form, literal string, fold bool) text {
	lower := ascii.Lower(literal)
	if fold && lower == strings.ToUpper(lower) {
		fold = false // no letters
	}
	if fold {
		literal = lower
	}
	if literal == "" && f != is {
		return anything
	}
	return text{form: f, literal: literal, fold: fold}
}

// textOf returns the strings that a StringMatcher matches.
func textOf(m *matcherv3.StringMatcher) text {
	fold := m.GetIgnoreCase()
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		return newText(is, p.Exact, fold)
	case *matcherv3.StringMatcher_Prefix:
		return newText(begins, p.Prefix, fold)
	case *matcherv3.StringMatcher_Suffix:
		return newText(ends, p.Suffix, fold)
	case *matcherv3.StringMatcher_Contains:
		return newText(contains, p.Contains, fold)
	case *matcherv3.StringMatcher_SafeRegex:
		return textOfRegex(p.SafeRegex.GetRegex())
	}
	return text{form: other}
}

// has reports whether a string is in the set. It does not spend much time on it.
func (t text) has(s string) Overlap {
	if t.form == other && len(s) > maxMatched {
		return Perhaps
	}
	return t.holds(s)
}

// Unknown is a value that only Envoy knows.
const Unknown = "\x00?"

// holds reports whether a string is in the set.
func (t text) holds(s string) Overlap {
	switch {
	case s == Unknown && !t.isAnything():
		return Perhaps
	case t.form == other && t.check == nil:
		return Perhaps
	case t.form == other:
		return t.check(s)
	}
	if t.fold {
		s = ascii.Lower(s)
	}
	return certain(t.fits(s))
}

// fits compares a string with the literal.
func (t text) fits(s string) bool {
	switch t.form {
	case is:
		return s == t.literal
	case begins:
		return strings.HasPrefix(s, t.literal)
	case ends:
		return strings.HasSuffix(s, t.literal)
	case contains:
		return strings.Contains(s, t.literal)
	}
	return false
}

// covers reports whether it is certain that all strings of another set are in this one.
func (t text) covers(o text) bool {
	switch {
	case t.isAnything():
		return true
	case t.form == other:
		return t.same != "" && t.same == o.same || o.form == is && !o.fold && t.has(o.literal) == Yes
	case o.fold && !t.fold:
		return false
	case !t.knows(o.form):
		return false
	}
	return t.has(o.literal) == Yes
}

// knows reports whether the literal of another form decides if its strings are in the set.
func (t text) knows(f form) bool {
	switch f {
	case is:
		return true
	case begins, other:
		return t.form == begins || t.form == contains
	case ends:
		return t.form == ends || t.form == contains
	}
	return t.form == contains
}

// meets reports whether a string is in both sets.
func (t text) meets(o text) Overlap {
	switch {
	case t.form == is && !t.fold:
		return o.has(t.literal)
	case o.form == is && !o.fold:
		return t.has(o.literal)
	case t.form == other || o.form == other:
		return min(Perhaps, certain(t.headsMeet(o)))
	case t.form == is || o.form == is || t.form == o.form && t.form != contains:
		t, o = alike(t, o)
		return certain(t.fits(o.literal) || o.fits(t.literal))
	}
	return Yes // one text after the other
}

// headsMeet reports whether the beginnings of the strings allow a common string.
func (t text) headsMeet(o text) bool {
	if t.form == ends || t.form == contains || o.form == ends || o.form == contains {
		return true
	}
	t, o = alike(t, o)
	return strings.HasPrefix(t.literal, o.literal) || strings.HasPrefix(o.literal, t.literal)
}

// alike returns both literals in lower case if one of the sets ignores case: it has the other's letters in either case.
func alike(t, o text) (text, text) {
	if t.fold || o.fold {
		t.literal, o.literal = ascii.Lower(t.literal), ascii.Lower(o.literal)
	}
	return t, o
}

// and returns a set that has at least the strings that are in both: the narrower one of the two, if that is known.
func (t text) and(o text) text {
	if o.narrower(t) {
		return o
	}
	return t
}

func (t text) narrower(o text) bool {
	if t.covers(o) || o.covers(t) {
		return o.covers(t)
	}
	return len(t.literal) > len(o.literal)
}

// anyCovers reports whether it is certain that each of the inner sets is within one of the outer sets.
func anyCovers(outer, inner []text) bool {
	return !slices.ContainsFunc(inner, func(o text) bool {
		return !slices.ContainsFunc(outer, func(t text) bool { return t.covers(o) })
	})
}

func anyMeets(a, b []text) Overlap {
	result := No
	for _, t := range a {
		for _, o := range b {
			result = either(result, t.meets(o))
		}
	}
	return result
}

func anyHas(all []text, s string) Overlap {
	result := No
	for _, t := range all {
		result = either(result, t.has(s))
	}
	return result
}
