package tree_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/tree"
)

// TestParsePathReadsWhatStringSpells: ParsePath parses the result of String for every path, with any keys.
func TestParsePathReadsWhatStringSpells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_]{0,8}`)
		var want *tree.Path
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				want = want.Field(name.Draw(t, "name"))
			case 1:
				want = want.Item(name.Draw(t, "name"), rapid.IntRange(0, 1<<31-1).Draw(t, "index"))
			case 2:
				key := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
				want = want.Entry(name.Draw(t, "name"), key.Draw(t, "key"))
			}
		}
		got, err := tree.ParsePath(want.String())
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if rest, ok := got.TrimPrefix(want); !ok || rest != nil {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestParsePathRefuses(t *testing.T) {
	for _, s := range []string{
		".", "a.", ".a", "a..b", "a b", "a[", "a[]", "a[1", "a[-1]", "a[01]", "a[1]b", "a[99999999999999999999]", `a["`, `a["x"`, `a["x]`, "a['x']", "a[`x`]",
		`a["\q"]`, "[0]", `["x"]`, "a[0][1]", "ä", "a\n", strings.Repeat("a", 1<<17), strings.Repeat("a.", 500) + "a",
	} {
		if p, err := tree.ParsePath(s); err == nil {
			t.Errorf("%.40q is taken for %.40s", s, p)
		}
	}
}
