package rules_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/transition"
)

// between reports whether the archive's examples are pushes, from one snapshot to the next.
func (a *archive) between() bool { return strings.HasPrefix(a.rule, transition.Rules.Name+"/") }

// lintPush runs the rules between the two halves of an example. It keeps infos only of the archive's own rule.
func (a *archive) lintPush(t *testing.T, example string) *lint.Result {
	if shown := map[bool]map[string]string{false: a.envoy, true: a.rpc}[a.aboutGRPC()]; shown[example] == "" {
		t.Errorf("%s: what does the data plane show of it? Say \"%[1]s: SYMPTOMS\" in the file envoy, or rpc for gRPC", example)
	}
	before, after := a.half(t, example, "old"), a.half(t, example, "new")
	flags := a.flagsOf(example)
	result := lint.Run(t.Context(), []*graph.Snapshot{after}, lint.Config{
		Rules: transition.Rules.Rules(), Target: flags.target, TargetGiven: flags.target.Plane != "",
		Transition: &lint.Transition{Changes: graph.Diff(before, after), Push: flags.push},
	})
	fieldtest.Check(t, result.Diagnostics)
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
		return d.Severity == lint.Info && d.Rule.ID() != a.rule
	})
	return result
}

// half loads one side of a push. Each side of a good push must be good by itself.
func (a *archive) half(t *testing.T, example, side string) *graph.Snapshot {
	path := example + "/" + side
	if !a.has(path) {
		path += ".yaml"
	}
	input, err := load.Paths(t.Context(), []string{path}, load.Options{Assumptions: a.flagsOf(example).assumptions})
	if err != nil {
		t.Fatal(err)
	}
	if len(input.Snapshots) != 1 {
		t.Fatalf("%s makes %d snapshots", path, len(input.Snapshots))
	}
	if strings.HasPrefix(example, "good") {
		result, err := a.lint(t, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range result.Diagnostics {
			t.Errorf("%s is not silent: %s: %s", path, result.Diagnostics[i].Rule.ID(), result.Diagnostics[i].Message)
		}
	}
	return input.Snapshots[0]
}

// TestAnyPush pushes any example after any other: no rule panics, and none reports a first push or one without changes.
func TestAnyPush(t *testing.T) {
	var snapshots []*graph.Snapshot
	for _, a := range archives(t) {
		dir := t.TempDir()
		a.extract(t, dir)
		for _, example := range a.examples {
			input, err := load.Paths(t.Context(), []string{filepath.Join(dir, example)}, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			snapshots = append(snapshots, input.Snapshots...)
		}
	}
	nothing := &graph.Snapshot{}
	nothing.Build()
	push := func(before, after *graph.Snapshot) []lint.Diagnostic {
		result := lint.Run(t.Context(), []*graph.Snapshot{after}, lint.Config{Rules: transition.Rules.Rules(), Transition: &lint.Transition{Changes: graph.Diff(before, after)}})
		for _, failure := range result.Failures {
			t.Errorf("%v\n%s", failure, failure.Stack)
		}
		fieldtest.Check(t, result.Diagnostics)
		return slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
			return d.Severity == lint.Info || d.Rule.Name == "ttl-crash" // which is about any push
		})
	}
	for i, s := range snapshots {
		for _, d := range append(push(s, s), push(nothing, s)...) {
			t.Errorf("%s: %s: %s", d.Resource.File.Name, d.Rule.ID(), d.Message)
		}
		push(s, nothing)
		push(s, snapshots[(i+1)%len(snapshots)])
		push(s, snapshots[(7*i+3)%len(snapshots)])
	}
}
