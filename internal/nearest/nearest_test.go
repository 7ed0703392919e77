package nearest_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/nearest"
)

// plain is the whole table of the optimal string alignment.
func plain(a, b string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		table[i][0] = i
	}
	for j := range table[0] {
		table[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			table[i][j] = min(table[i-1][j]+1, table[i][j-1]+1, table[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}

// TestDistance: the band finds the same distances as the whole table, up to its limit.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,12}`)
		a, b, limit := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(0, 13).Draw(t, "limit")
		want, got := plain(a, b), nearest.Distance(a, b, limit)
		if want <= limit && got != want || want > limit && got <= limit {
			t.Fatalf("%q and %q are %d apart, not %d (limit %d)", a, b, want, got, limit)
		}
	})
}

// TestName: a search finds the first of the candidates with the fewest typos, whatever it leaves out.
func TestName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abAé]{0,9}`)
		name, candidates := word.Draw(t, "name"), rapid.SliceOf(word).Draw(t, "candidates")
		want, least := "", 1+len(name)/3
		for _, c := range candidates {
			d := plain(strings.ToLower(name), strings.ToLower(c))
			if c != name && c != "" && max(len(c)-len(name), len(name)-len(c)) <= least && (d < least || d == least && want == "") {
				want, least = c, d
			}
		}
		finder := &nearest.Finder{Work: nearest.Unlimited}
		for range 2 { // a finder keeps nothing of a search
			if got := finder.Name(name, candidates); got != want {
				t.Fatalf("%q in %q: found %q, want %q", name, candidates, got, want)
			}
		}
	})
}

func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 201)
	if got := nearest.Distance(long, long[1:], 3); got != 4 {
		t.Errorf("names that are too long are %d apart", got)
	}
	finder := &nearest.Finder{Work: nearest.Unlimited}
	if got := finder.Name(long, []string{long[1:]}); got != "" {
		t.Errorf("found one of %d bytes", len(got))
	}
	if got := finder.Name(long[2:], []string{long, long[1:]}); got != long[1:] {
		t.Errorf("found one of %d bytes", len(got))
	}
}

// TestWork: a search costs no memory for a pair, and little work for a pair that differs much. It stops when its work is used up.
func TestWork(t *testing.T) {
	candidates := make([]string, 10_000)
	for i := range candidates {
		candidates[i] = fmt.Sprintf("%030d", i*i)
	}
	finder := &nearest.Finder{Work: nearest.Unlimited}
	if n := testing.AllocsPerRun(1, func() { finder.Name("outbound-80-reviews-v1-default", candidates) }); n > 100 { // the runtime may allocate too
		t.Errorf("%v allocations for %d pairs", n, len(candidates))
	}
	if spent := nearest.Unlimited - finder.Work; spent > 2*31*len(candidates) { // AllocsPerRun searches twice
		t.Errorf("%d bytes were looked at", spent)
	}
	finder.Work = 1000
	if finder.Name("outbound-80-reviews-v1-default", candidates); finder.Work < -31*30 {
		t.Errorf("it continued for %d bytes", -finder.Work)
	}
}

func BenchmarkName(b *testing.B) {
	for _, length := range []int{30, 60, 199} {
		candidates := make([]string, 6000)
		for i := range candidates {
			candidates[i] = fmt.Sprintf("%s-%05d", strings.Repeat("catalog.", 25)[:length-6], i)
		}
		b.Run(fmt.Sprint(length, "x6000"), func(b *testing.B) {
			finder := &nearest.Finder{Work: nearest.Unlimited}
			for b.Loop() {
				finder.Name(candidates[77][:length-1]+"x", candidates)
			}
		})
	}
}
