package rules_test

import (
	"testing"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// TestOlderVersions judges every bootstrap among the examples for each older Envoy, and compares with that one's verdict.
func TestOlderVersions(t *testing.T) {
	var judgements []judgement
	for _, a := range archives(t) {
		if a.between() {
			continue
		}
		t.Run(a.rule, func(t *testing.T) {
			dir := t.TempDir()
			a.extract(t, dir)
			t.Chdir(dir)
			for _, example := range a.examples {
				if a.envoy[example] == "" && a.flagsOf(example).target.Plane == "" {
					judgements = append(judgements, a.judgeOlder(t, example)...)
				}
			}
		})
	}
	for _, j := range judgements {
		t.Run(j.target.String()+"/"+j.archive.rule+"/"+j.example, func(t *testing.T) {
			t.Parallel()
			j.validate(t, false)
		})
	}
}

// judgeOlder lints an example for every Envoy except the newest.
func (a *archive) judgeOlder(t *testing.T, example string) (all []judgement) {
	input, err := load.Paths(t.Context(), []string{example}, load.Options{Assumptions: a.flagsOf(example).assumptions})
	if err != nil {
		t.Fatal(err)
	}
	for _, older := range dataplane.All() {
		if older.Plane != "envoy" || older == dataplane.Default() {
			continue
		}
		result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.All(), Target: older, TargetGiven: true})
		fieldtest.Check(t, result.Diagnostics)
		all = append(all, judgement{archive: a, example: example, target: older, snapshots: input.Snapshots, found: result.Diagnostics})
	}
	return all
}
