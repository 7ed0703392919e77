package words_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/words"
)

func TestWords(t *testing.T) {
	names := func(s string) []string { return strings.Fields(s) }
	for _, c := range []struct{ got, want string }{
		{words.Count(1, "file"), "1 file"},
		{words.Name("dir/größe 1.yaml"), "dir/größe 1.yaml"},
		{words.Name("a\x1b[2J.yaml"), `"a\x1b[2J.yaml"`},
		{words.Name("a\u202elmay.exe"), `"a\u202elmay.exe"`},
		{words.Name("two\nlines"), `"two\nlines"`},
		{words.Name("\xff.yaml"), `"\xff.yaml"`},
		{words.Count(0, "file"), "0 files"},
		{words.Cut("größe", 2), "gr…"},
		{words.Cut("größe", 3), "gr…"},
		{words.Cut("größe", 7), "größe"},
		{words.Short(strings.Repeat("n", 201)), strings.Repeat("n", 200) + "…"},
		{words.Count(2, "address"), "2 addresses"},
		{words.And(nil), ""},
		{words.And(names("a")), "a"},
		{words.And(names("a b")), "a and b"},
		{words.And(names("a b c")), "a, b and c"},
		{words.Few(nil, 3), ""},
		{words.Few(names("a b c"), 3), "a, b, c"},
		{words.Few(names("a b c d"), 3), "a, b and 2 more"},
		{words.And(words.Quoted(names(`a b"`))), `"a" and "b\""`},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
