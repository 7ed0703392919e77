package suppress

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/source"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"*", "", true},
		{"*", "cluster/a/b", true},
		{"cluster/*", "cluster/", true},
		{"cluster/a-?", "cluster/a-1", true},
		{"cluster/a-?", "cluster/a-", false},
		{"cluster/a", "cluster/ab", false},
		{"a*b*c", "aXbXbc", true},
		{"a*b*c", "aXbXb", false},
		{"a*b*c", "abc", true},
		{"ab*ba", "aba", false},
		{"*a?c*", "xaaxaxc", true},
		{strings.Repeat("*a", 40) + "b", strings.Repeat("a", 200), false}, // in no time
		{"routes[0]", "routes[0]", true},
		{"routes[0]", "routes0", false},
		{"routes[*].route", "routes[12].route", true},
	} {
		if got := glob(c.pattern, c.s); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"virtual_hosts", "virtual_hosts[0].name", true},
		{"virtual_hosts[0]", "virtual_hosts[0].name", true},
		{"virtual_hosts[*]", "virtual_hosts[10].routes[2]", true},
		{"virtual_hosts[1]", "virtual_hosts[10].name", false},
		{"virtual", "virtual_hosts[0]", false},
		{"*.name", "virtual_hosts[0].name", true},
		{"name", "", false},
	} {
		if got := covers(c.pattern, c.path); got != c.want {
			t.Errorf("covers(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}

func TestBelow(t *testing.T) {
	f := &source.File{Text: []byte("# a\n  # b\nc: 1\n# last")}
	for n, want := range map[int]int{1: 3, 2: 3, 4: 5} {
		if got := below(f, n); got != want {
			t.Errorf("line %d is about line %d, want %d", n, got, want)
		}
	}
}
