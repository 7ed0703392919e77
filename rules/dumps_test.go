package rules_test

import (
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// TestWithoutBootstrap takes the bootstrap out of every example, and keeps its static resources, as in a part of a config dump: no rule panics.
func TestWithoutBootstrap(t *testing.T) {
	eachExample(t, func(t *testing.T, a *archive, example string) {
		var rest []*graph.Snapshot
		for _, whole := range a.judge(t, example).Snapshots {
			s := &graph.Snapshot{}
			for _, r := range whole.Resources {
				if r.Kind != graph.Bootstrap {
					s.Add(r)
				}
			}
			s.Build()
			rest = append(rest, s)
		}
		flags := a.flagsOf(example)
		result := lint.Run(t.Context(), rest, lint.Config{Rules: a.rules(), Target: flags.target, Profile: flags.profile, Clock: flags.clock})
		for _, failure := range result.Failures {
			t.Errorf("%s: %v\n%s", example, failure, failure.Stack)
		}
	})
}
