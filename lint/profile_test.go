package lint_test

import (
	"slices"
	"testing"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// TestProfiles: a profile turns rules on and off, and changes severities. A rule without profiles runs in all of them, also without a severity.
func TestProfiles(t *testing.T) {
	group := &lint.Group{Name: "acme"}
	found := lint.ForSnapshot(func(p *lint.Pass) { p.ReportResource(p.Snapshot.All()[0], lint.Diagnostic{Message: "found"}) })
	group.Add(&lint.Rule{Name: "always", Severity: lint.Error, Run: found})
	group.Add(&lint.Rule{Name: "edge-only", Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning}, Run: found})
	group.Add(&lint.Rule{Name: "not-mesh", Severity: lint.Info, Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning, lint.Mesh: lint.Off}, Run: found})
	group.Add(&lint.Rule{Name: "unrated", Run: found})
	for profile, want := range map[lint.Profile][]string{
		"":            {"error acme/always", "info acme/not-mesh", "off acme/unrated"},
		lint.Edge:     {"error acme/always", "warning acme/edge-only", "warning acme/not-mesh", "off acme/unrated"},
		lint.Mesh:     {"error acme/always", "off acme/unrated"},
		lint.Internal: {"error acme/always", "info acme/not-mesh", "off acme/unrated"},
	} {
		config := lint.Config{Rules: group.Rules(), Profile: profile}
		result := lint.Run(t.Context(), []*graph.Snapshot{clusters(1)}, config)
		var got []string
		for i := range result.Diagnostics {
			got = append(got, result.Diagnostics[i].Severity.String()+" "+result.Diagnostics[i].Rule.ID())
		}
		if !slices.Equal(got, want) {
			t.Errorf("profile %q: got %q, want %q", profile, got, want)
		}
	}
}

// A result of one profile is not taken for that of another one.
func TestProfilesAfter(t *testing.T) {
	rule := &lint.Rule{Group: "acme", Name: "always", Severity: lint.Info, Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning}}
	rule.Run = lint.EachResource(func(p *lint.Pass, r *graph.Resource) { p.ReportResource(r, lint.Diagnostic{Message: "found"}) })
	s := clusters(1)
	_, judged := lint.RunAfter(t.Context(), s, lint.Config{Rules: []*lint.Rule{rule}}, nil)
	result, _ := lint.RunAfter(t.Context(), s, lint.Config{Rules: []*lint.Rule{rule}, Profile: lint.Edge}, judged)
	if len(result.Diagnostics) != 1 || result.Diagnostics[0].Severity != lint.Warning {
		t.Errorf("got %v", result.Diagnostics)
	}
}

func TestParseProfile(t *testing.T) {
	for _, p := range append(lint.Profiles, "") {
		if got, err := lint.ParseProfile(string(p)); got != p || err != nil {
			t.Errorf("%q: got %q, %v", p, got, err)
		}
	}
	if _, err := lint.ParseProfile("public"); err == nil {
		t.Error("public is read as a profile")
	}
}
