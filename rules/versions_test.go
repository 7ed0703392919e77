package rules_test

import (
	"testing"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/lint"
)

// older are all Envoys but the newest.
var older, versions = func() (all []dataplane.Target, versions []envoytest.Version) {
	for _, known := range dataplane.All() {
		if known.Plane == "envoy" && known != dataplane.Default() {
			all, versions = append(all, known), append(versions, envoytest.Version(known.Version))
		}
	}
	return all, versions
}()

// judgeOlder lints a bootstrap for every older Envoy too, if nothing is said of which one it is for.
func (a *archive) judgeOlder(t *testing.T, example string) (all []judgement) {
	if a.envoy[example] != "" || a.flagsOf(example).target.Plane != "" {
		return nil
	}
	flags := a.flagsOf(example)
	input, err := load.Paths(t.Context(), []string{example}, load.Options{Assumptions: flags.assumptions, Root: flags.root})
	if err != nil {
		t.Fatal(err)
	}
	for _, older := range older {
		result := lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: a.rules(), Target: older, TargetGiven: true, Profile: flags.profile, Clock: flags.clock})
		fieldtest.Check(t, result.Diagnostics)
		all = append(all, judgement{archive: a, example: example, target: older, snapshots: input.Snapshots, found: result.Diagnostics})
	}
	return all
}
