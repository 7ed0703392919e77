package redact

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph/source"
)

// minValue is the length of a secret that is looked for in the rest of the text too; a shorter one may be any word.
const minValue = 8

// values finds secrets wherever they stand, all of them in one pass: there may be thousands.
type values struct {
	sorted []string
	begin  map[string]bool // what they begin with
}

func newValues(all []string) *values {
	v := &values{slices.Compact(slices.Sorted(slices.Values(all))), map[string]bool{}}
	for _, value := range v.sorted {
		v.begin[value[:minValue]] = true
	}
	return v
}

// in lists where they stand in a text; of those that overlap the first, and of those that begin together the longest.
func (v *values) in(text string) []source.Span {
	var spans []source.Span
	if len(v.sorted) == 0 {
		return nil
	}
	for at := 0; at+minValue <= len(text); {
		n := 0
		if v.begin[text[at:at+minValue]] {
			n = v.longest(text[at:])
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

// replaced is a text without them.
func (v *values) replaced(text string) string {
	var b strings.Builder
	at := 0
	for _, span := range v.in(text) {
		b.WriteString(text[at:span.Start])
		b.WriteString(Redaction)
		at = span.End
	}
	return b.String() + text[at:]
}
