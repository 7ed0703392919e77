package ops

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestPlainerMatchesTheSame: what stands in for an expression matches the paths that the expression matches as a whole, and no others.
func TestPlainerMatchesTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(parts []string, most int) string {
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		return b.String()
	}
	expressions := []string{"^", "/", "a", "b", `\.`, ".", ".*", ".*?", "(/.*)?", "(?:/.*)?", "(/.*)", "(/.*)*", "/?", "$", "|", "(?i)", `\Q+\E`, "[a]", "+", "é"}
	paths := []string{"/", "a", "b", ".", "A", "+", "x", "/a"}
	seen := map[string]int{}
	for range 100_000 {
		regex := "/" + draw(expressions, 5)
		if random.IntN(3) == 0 {
			regex = "^" + regex
		}
		field, value, ok := plainer(regex)
		if !ok {
			continue
		}
		seen[field]++
		whole := regexp.MustCompile("^(?:" + regex + ")$")
		for range 10 {
			path := value
			if random.IntN(2) == 0 {
				path = "/" + draw(paths, 4)
			}
			path += draw(paths, 2)
			if want, got := whole.MatchString(path), matches(field, value, path); want != got {
				t.Fatalf("%s matches %s: %t, and %s: %s does: %t", regex, path, want, field, value, got)
			}
		}
	}
	if len(seen) != 3 || min(seen["path"], seen["prefix"], seen["path_separated_prefix"]) < 100 {
		t.Errorf("too few of a kind: %v", seen)
	}
}

func matches(field, value, path string) bool {
	switch field {
	case "path":
		return path == value
	case "prefix":
		return strings.HasPrefix(path, value)
	}
	return path == value || strings.HasPrefix(path, value+"/")
}
