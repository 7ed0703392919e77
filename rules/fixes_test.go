package rules_test

import (
	"path"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// fix applies all fixes to an example and checks the result. It returns nil if there are none.
func (a *archive) fix(t *testing.T, example string) *fix.Outcome {
	rounds := func(unsafe bool) *fix.Outcome {
		outcome, err := fix.Rounds(fix.Work{
			Unsafe: unsafe,
			Lint:   func(texts map[string][]byte) (*lint.Result, error) { return a.lint(t, example, texts) },
			Key: func(f *source.File) string {
				if a.has(path.Clean(f.Name)) {
					return path.Clean(f.Name)
				}
				return ""
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	if safe := rounds(false); safe.Applied > 0 {
		before := findings(safe.First)
		for id, n := range findings(safe.Result) {
			if n > before[id] {
				t.Errorf("%s: after safe fixes there is a finding more of %s", example, id)
			}
		}
	}
	all := rounds(true)
	a.checkFixed(t, example, all)
	if all.Applied == 0 {
		return nil
	}
	return all
}

// checkFixed checks that findings with a fix are not reported again, that no fix is left to apply, and that comments remain.
func (a *archive) checkFixed(t *testing.T, example string, outcome *fix.Outcome) {
	left := map[lint.Key]string{}
	for i := range outcome.Result.Diagnostics {
		d := &outcome.Result.Diagnostics[i]
		left[d.Key()] = d.Message
		if fix.Of(d, true) != nil {
			t.Errorf("%s: a fix of %s cannot be applied, or does harm: %s", example, d.Rule.ID(), d.Fixes[0].Message)
		}
	}
	for i := range outcome.First.Diagnostics {
		d := &outcome.First.Diagnostics[i]
		if fix.Of(d, true) == nil {
			continue
		}
		if message, there := left[d.Key()]; there && message == d.Message {
			t.Errorf("%s: %s is still found after its fix", example, d.Rule.ID())
		}
		if d.Help == "" {
			t.Errorf("%s: %s has a fix, and no help says what it is", example, d.Rule.ID())
		}
	}
	for name, text := range outcome.After {
		for line := range strings.Lines(string(outcome.Before[name])) {
			if comment := strings.TrimSpace(line); strings.HasPrefix(comment, "#") && !strings.Contains(string(text), comment) {
				t.Errorf("%s: the fixes lose %q", name, comment)
			}
		}
	}
}

// findings counts those of each rule.
func findings(result *lint.Result) map[string]int {
	count := map[string]int{}
	for i := range result.Diagnostics {
		count[result.Diagnostics[i].Rule.ID()]++
	}
	return count
}
