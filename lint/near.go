package lint

import (
	"fmt"
	"strings"
	"unicode"
)

// Nearest returns the candidate that is most similar to name, the first of several. It is empty if none is close enough for a typo.
func Nearest(name string, candidates []string) string {
	best, bestAt := "", 1+len(name)/3
	for _, c := range candidates {
		if c == name || abs(len(c)-len(name)) > bestAt {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(c), bestAt)
		if d < bestAt || d == bestAt && best == "" {
			best, bestAt = c, d
		}
	}
	return best
}

// DidYouMean returns the end of a message about an unknown name: the nearest candidate in parentheses. It is empty if none is near.
func DidYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
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
		if a[i] != b[i] && (min(len(a[i]), len(b[i])) < 4 || distance(a[i], b[i], 2) > 2) {
			return false
		}
	}
	return true
}

func abs(n int) int { return max(n, -n) }

// distance returns the number of inserted, deleted, changed and swapped bytes between a and b (optimal string
// alignment). It stops counting beyond limit.
func distance(a, b string, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return least
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
