// Package nearest finds the name that was probably meant. What a search costs is bounded: names that are longer than
// any name that people type are not compared, a pair costs no allocation and little more than its shorter limit, and a
// [Finder] stops when its work is used up.
package nearest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName is the longest name that is compared, in bytes.
const maxName = 200

// Unlimited is the work of a Finder that never stops.
const Unlimited = int(^uint(0) >> 1)

// Finder searches for similar names.
type Finder struct {
	Work int // that is left, in bytes that may be looked at

	name, candidate   []byte // in lower case
	counts            [256]int16
	before, last, row [maxName + 2]uint8
}

// Name returns the candidate that is most similar to a name, the first of several. It is empty if none is close enough for a typo.
func (f *Finder) Name(name string, candidates []string) string {
	return f.Within(name, candidates, 1+len(name)/3)
}

// Within is Name with a limit of its own for the number of typos.
func (f *Finder) Within(name string, candidates []string, limit int) (best string) {
	limit = min(limit, 1+len(name)/3)
	if len(name) > maxName {
		return ""
	}
	if f.name = fold(f.name[:0], name); len(f.name) > maxName {
		return ""
	}
	for _, c := range f.name {
		f.counts[c]++
	}
	for _, c := range candidates {
		if limit < 0 || f.Work <= 0 {
			break
		}
		f.Work--
		if c == name || c == "" || len(c) > maxName || max(len(c)-len(name), len(name)-len(c)) > limit {
			continue
		}
		if d := f.distance(c, limit); d <= limit {
			best, limit = c, d-1 // only what is closer replaces it
		}
	}
	for _, c := range f.name {
		f.counts[c]--
	}
	return best
}

// fold appends a name in lower case.
func fold(to []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf {
			return append(to[:len(to)-i], strings.ToLower(name)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// distance returns the number of typos between the name and a candidate, or more than limit if there are more.
func (f *Finder) distance(candidate string, limit int) int {
	if f.candidate = fold(f.candidate[:0], candidate); len(f.candidate) > maxName {
		return limit + 1
	}
	f.Work -= len(f.candidate)
	if f.others() > limit {
		return limit + 1
	}
	f.Work -= len(f.candidate) * (2*limit + 1)
	return f.aligned(f.name, f.candidate, limit)
}

// others counts the bytes that only one of the two has, whatever their order: there are at least as many typos.
func (f *Finder) others() int {
	extra := 0
	for _, c := range f.candidate {
		if f.counts[c]--; f.counts[c] < 0 {
			extra++
		}
	}
	for _, c := range f.candidate {
		f.counts[c]++
	}
	return max(extra, extra+len(f.name)-len(f.candidate))
}

// Distance returns the number of inserted, deleted, changed and swapped bytes between a and b, or more than limit if
// there are more.
func Distance(a, b string, limit int) int {
	if max(len(a), len(b)) > maxName {
		return limit + 1
	}
	return new(Finder).aligned([]byte(a), []byte(b), limit)
}

// aligned is the optimal string alignment of a and b, in the band of the table in which there are at most limit typos.
func (f *Finder) aligned(a, b []byte, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	beyond := uint8(min(limit, maxName) + 1)
	before, last, row := &f.before, &f.last, &f.row
	for j := range len(b) + 1 {
		last[j] = uint8(min(j, int(beyond)))
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-limit), min(len(b), i+limit)
		row[from-1] = beyond
		if from == 1 {
			row[0] = uint8(min(i, int(beyond)))
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d = 1 + min(d, last[j], row[j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d = min(d, before[j-2]+1)
				}
			}
			row[j] = min(d, beyond)
			least = min(least, row[j])
		}
		row[to+1] = beyond
		if least >= beyond {
			return int(beyond)
		}
		before, last, row = last, row, before
	}
	return int(last[len(b)])
}

// DidYouMean returns the end of a message about an unknown name: the nearest candidate in parentheses. It is empty if none is near.
func DidYouMean(name string, candidates []string) string {
	if near := (&Finder{Work: Unlimited}).Name(name, candidates); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
