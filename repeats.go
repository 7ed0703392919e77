package xdslint

import (
	"context"
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/internal/words"
)

// once are the rules about an unknown type, which a file may use in many places: one finding says it for all.
var once = []string{"schema/bad-type-url", "schema/opaque-any"}

// joinRepeats keeps the first of the findings that say the same of a file, and counts the others in a note. Those with
// fixes stay, since each fixes its own place.
func (r *run) joinRepeats(context.Context) {
	type same struct{ rule, file, message string }
	first, more := map[same]int{}, map[int]int{}
	kept := r.Diagnostics[:0:0]
	for _, d := range r.Diagnostics {
		if !slices.Contains(once, d.Rule.ID()) || len(d.Fixes) > 0 {
			kept = append(kept, d)
			continue
		}
		key := same{d.Rule.ID(), d.Resource.File.Name, d.Message}
		if i, known := first[key]; known {
			more[i]++
			continue
		}
		first[key] = len(kept)
		kept = append(kept, d)
	}
	for i, n := range more {
		d := &kept[i]
		d.Notes = append(slices.Clone(d.Notes), fmt.Sprintf("the same holds for %s in this file", words.Count(n, "other place")))
	}
	r.Diagnostics = kept
}
