package redact

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/source"
)

// values finds secrets wherever they are, all of them in one pass: there may be thousands.
type values struct {
	sorted []string
	begin  map[string]bool // what they begin with
	least  int             // the length of that, which none is shorter than
}

// newValues leaves out what is shorter than least: it would be found in the middle of other words.
func newValues(all []string, least int) *values {
	long := slices.DeleteFunc(slices.Sorted(slices.Values(all)), func(value string) bool { return len(value) < least })
	v := &values{slices.Compact(long), map[string]bool{}, least}
	for _, value := range v.sorted {
		v.begin[value[:least]] = true
	}
	return v
}

// in lists where they are in a text; of those that overlap the first, and of those that begin together the longest.
func (v *values) in(text string) []source.Span {
	var spans []source.Span
	if len(v.sorted) == 0 {
		return nil
	}
	for at := 0; at+v.least <= len(text); {
		n := 0
		if v.begin[text[at:at+v.least]] {
			if n = v.longest(text[at:]); v.cut(text[at:]) {
				n = len(text) - at
			}
		}
		if n > 0 {
			spans = append(spans, source.Span{Start: at, End: at + n})
		}
		at += max(1, n)
	}
	return spans
}

// longest is the length of the longest value that a text begins with. None that it begins with is sorted behind the text, and all of them begin
// the part that the last one before it shares with it.
func (v *values) longest(text string) int {
	for {
		i, exact := slices.BinarySearch(v.sorted, text)
		switch {
		case exact:
			return len(text)
		case i == 0:
			return 0
		}
		last, shared := v.sorted[i-1], 0
		for shared < min(len(last), len(text)) && last[shared] == text[shared] {
			shared++
		}
		if shared == len(last) {
			return shared
		}
		text = text[:shared]
	}
}

// cut reports whether a text is the beginning of a value that was too long to be shown.
func (v *values) cut(text string) bool {
	head, ok := strings.CutSuffix(text, "…")
	if !ok {
		return false
	}
	head = strings.TrimRight(head, " ")
	i, _ := slices.BinarySearch(v.sorted, head)
	return i < len(v.sorted) && strings.HasPrefix(v.sorted[i], head)
}

// long reports whether a text contains a value of minValue or more.
func (v *values) long(text string) bool {
	return slices.ContainsFunc(v.in(text), func(span source.Span) bool { return span.End-span.Start >= minValue })
}

// replaced is a text with a word in place of them.
func (v *values) replaced(text, word string) string {
	spans := v.in(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, span := range spans {
		b.WriteString(text[at:span.Start])
		b.WriteString(word)
		at = span.End
	}
	return b.String() + text[at:]
}
