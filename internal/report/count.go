package report

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Count says how many findings of each severity there are: "2 errors, 1 warning".
func Count(all []lint.Diagnostic) string {
	n := counts(all)
	var parts []string
	for s := lint.Error; s >= lint.Info; s-- {
		if n[s] > 0 {
			parts = append(parts, words.Count(n[s], s.String()))
		}
	}
	if parts == nil {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// summary is the last line of a text report.
func summary(r *Report) string {
	s := Count(r.Diagnostics) + " in " + words.Count(r.Files.Read+r.Faulty, "file")
	if n := r.Hidden.Suppressed; n > 0 {
		s += fmt.Sprintf(", %d suppressed", n)
	}
	if n := r.Hidden.Baselined; n > 0 {
		s += fmt.Sprintf(", %d in the baseline", n)
	}
	if others := r.Files.Skipped - r.Faulty; others > 0 {
		s += "; " + words.Count(others, "file") + " skipped (--show-files lists them)"
	}
	return s
}

func counts(all []lint.Diagnostic) (n [4]int) {
	for i := range all {
		n[all[i].Severity] += all[i].Count()
	}
	return n
}
