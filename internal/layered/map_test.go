package layered_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/layered"
)

// TestLikeAMap: copies of copies hold what plain maps hold after the same changes, and the originals stay as they were.
func TestLikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.IntRange(0, 40)
		plain := rapid.MapOf(key, rapid.Int()).Draw(t, "base")
		made := layered.Of(maps.Clone(plain))
		for range rapid.IntRange(1, 60).Draw(t, "copies") {
			before, was := made, plain
			made, plain = made.Copy(), maps.Clone(plain)
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				k := key.Draw(t, "key")
				if rapid.Bool().Draw(t, "delete") {
					made.Delete(k)
					delete(plain, k)
				} else {
					v := rapid.Int().Draw(t, "value")
					made.Set(k, v)
					plain[k] = v
				}
			}
			equal(t, &made, plain)
			equal(t, &before, was)
		}
	})
}

// TestLikeASet: sets made from sets hold what plain ones hold after the same changes, each element once, and the originals stay as they were.
func TestLikeASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 3, rapid.ID[int])
		plain := rapid.SliceOfDistinct(rapid.IntRange(0, 40), rapid.ID[int]).Draw(t, "base")
		made := layered.SetOf(slices.Clone(plain))
		for range rapid.IntRange(1, 60).Draw(t, "copies") {
			before, was := made, plain
			removed := slices.DeleteFunc(some.Draw(t, "removed"), func(e int) bool { return !slices.Contains(was, e) })
			plain = slices.DeleteFunc(slices.Clone(was), func(e int) bool { return slices.Contains(removed, e) })
			added := slices.DeleteFunc(some.Draw(t, "added"), func(e int) bool { return slices.Contains(plain, e) })
			made, plain = made.With(removed, added), append(plain, added...)
			for _, c := range []struct {
				got  layered.Set[int]
				want []int
			}{{made, plain}, {before, was}} {
				if got := slices.Sorted(c.got.All); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) || c.got.Empty() != (len(c.want) == 0) {
					t.Fatalf("%v, want %v", got, c.want)
				}
			}
		}
	})
}

func equal(t *rapid.T, made *layered.Map[int, int], plain map[int]int) {
	if got := maps.Collect(made.All); !maps.Equal(got, plain) {
		t.Fatalf("%v, want %v", got, plain)
	}
	for k := range 41 {
		if got := made.Get(k); got != plain[k] {
			t.Fatalf("%d: %v, want %v", k, got, plain[k])
		}
	}
}
