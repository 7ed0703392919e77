package bootstrap

import (
	"slices"
	"strings"
)

// bracket reads a bracket expression, after the [.
func (r *stdRegex) bracket(i int) int {
	if r.at(i, "^") {
		i++
	}
	need(i < len(r.text), errBrack)
	for {
		next := r.member(i)
		if next == i {
			break
		}
		i = next
	}
	need(r.at(i, "]"), errBrack)
	return i + 1
}

// none is a member of brackets that is not a single character: \w, or nothing.
const none = -1

// member reads a character, class or range of characters within brackets.
func (r *stdRegex) member(i int) int {
	switch {
	case i == len(r.text), r.at(i, "]"):
		return i
	case r.at(i, "[="):
		end := r.until(i+2, "=]")
		need(end == i+5, errCollate) // names of characters are not supported, because they are hardly used
		return end
	case r.at(i, "[:"):
		end := r.until(i+2, ":]")
		need(slices.Contains(classes, strings.ToLower(r.text[i+2:end-2])), errCtype)
		return end
	}
	first, i := r.single(i)
	if !r.at(i, "-") || i+1 >= len(r.text) || r.at(i+1, "]") {
		return i
	}
	last, end := r.single(i + 1)
	need(first != none && last != none && (r.lib.older || first <= last || first > 127 || last > 127), errRange)
	return end
}

// single reads one character within brackets.
func (r *stdRegex) single(i int) (c, end int) {
	switch {
	case r.at(i, "[."):
		end = r.until(i+2, ".]")
		need(end == i+5, errCollate)
		return int(r.text[i+2]), end
	case !r.at(i, `\`):
		return int(r.text[i]), i + 1
	}
	i++
	need(i < len(r.text), errEscape)
	switch {
	case r.oneOf(i, "dDsSwW"):
		return none, i + 1
	case r.oneOf(i, "bfnrtv0"):
		return ' ' - 1, i + 1 // one of the control characters
	case r.oneOf(i, "cux"):
		return 128, r.character(i) // which one does not matter
	}
	return int(r.text[i]), r.character(i)
}

// until finds the end of a name within brackets.
func (r *stdRegex) until(i int, mark string) int {
	at := strings.Index(r.text[i:], mark)
	need(at >= 0, errBrack)
	return i + at + 2
}

var classes = []string{
	"alnum", "alpha", "blank", "cntrl", "d", "digit", "graph", "lower", "print", "punct", "s", "space", "upper", "w", "xdigit",
}
