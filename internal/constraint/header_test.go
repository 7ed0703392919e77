package constraint

import (
	"regexp"
	"testing"
)

// FuzzHeaders compares the checks by hand with the regular expressions that they stand for.
func FuzzHeaders(f *testing.F) {
	name, value := regexp.MustCompile(headerName), regexp.MustCompile(headerValue)
	check := func(t *testing.T, s string) {
		if got, want := isHeaderName(s), name.MatchString(s); got != want {
			t.Errorf("isHeaderName(%q) = %t", s, got)
		}
		if got, want := isHeaderValue(s), value.MatchString(s); got != want {
			t.Errorf("isHeaderValue(%q) = %t", s, got)
		}
	}
	for _, s := range []string{"", ":", "::", ":path", "x-a", "a b", "a\tb", "é", "a\n", "`", "\""} {
		f.Add(s)
	}
	for c := range rune(0x80) {
		f.Add(string(c))
		f.Add("a" + string(c))
	}
	f.Fuzz(check)
}
