package suppress

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// Ignore suppresses the findings of a rule in some resources and fields.
type Ignore struct {
	Rule     string      `yaml:"rule"`     // id, group or glob over ids
	Resource string      `yaml:"resource"` // glob over KIND/NAME; empty: all
	Field    string      `yaml:"field"`    // glob over field paths; means all fields below it too; empty: all
	Reason   string      `yaml:"reason"`   // required
	Span     source.Span `yaml:"-"`        // its place in the configuration
}

// Match reports whether the ignore applies to a finding.
func (i *Ignore) Match(d *lint.Diagnostic) bool {
	if !d.Rule.Match(i.Rule) {
		return false
	}
	if d.More > 0 {
		return i.Resource == "" && i.Field == "" // where the others are is not known
	}
	if !OfResource(i.Resource, d.Resource) {
		return false
	}
	return i.Field == "" || covers(i.Field, d.Path.String())
}

// OfResource reports whether a glob over KIND/NAME matches a resource; an empty one matches all.
func OfResource(pattern string, r *graph.Resource) bool {
	return pattern == "" || glob(pattern, string(r.Kind)+"/"+r.Name)
}

// covers reports whether a glob matches a field path or one of its prefixes.
func covers(pattern, path string) bool {
	for end := 1; end <= len(path); end++ {
		if (end == len(path) || path[end] == '.' || path[end] == '[') && glob(pattern, path[:end]) {
			return true
		}
	}
	return false
}

// glob matches with * for any text and ? for one byte; brackets are literal, because field paths contain them.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return len(s) == len(first) && startsWith(first, s)
	}
	if len(s) < len(first)+len(last) || !startsWith(first, s) || !startsWith(last, s[len(s)-len(last):]) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] { // the first place of each leaves the most for the others
		for !startsWith(part, s) {
			if s == "" {
				return false
			}
			s = s[1:]
		}
		s = s[len(part):]
	}
	return true
}

// startsWith reports whether a text begins with a pattern without *.
func startsWith(pattern, s string) bool {
	if len(s) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != s[i] {
			return false
		}
	}
	return true
}
