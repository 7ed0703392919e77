package schema

import (
	"sort"

	"github.com/xdslint/xdslint/internal/nearest"
)

func sorted(names []string) []string {
	sort.Strings(names)
	return names
}

// nearestTypo is lint.Nearest for long names with common parts: at most three letters may differ.
func nearestTypo(name string, candidates []string) string {
	near := (&nearest.Finder{Work: nearest.Unlimited}).Within(name, candidates, 3)
	if near == "" || editDistance(name, near) > 3 {
		return ""
	}
	return near
}

// editDistance counts the letters to insert, delete or change between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
