package rules_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// TestParts takes every message out of every good example, as a patch would hold it: no rule reports it alone, either as a
// whole message or as a part of one.
func TestParts(t *testing.T) {
	eachExample(t, func(t *testing.T, a *archive, example string) {
		if strings.HasPrefix(a.rule, "suppress/") {
			return
		}
		for _, s := range a.judge(t, example).Snapshots {
			for _, r := range s.Resources {
				r.Walk(func(at *graph.Place) { part(t, a, example, at) })
			}
		}
	})
}

func part(t *testing.T, a *archive, example string, at *graph.Place) {
	judged := a.flagsOf(example).target
	if judged == (dataplane.Target{}) {
		judged = dataplane.Default()
	}
	read, _ := envoy.Validated(judged.Extensions(), at)
	if len(at.Resource.Problems) > 0 || at.Resource.Kind == graph.Patch || !read || at.Message.Descriptor().FullName() == "google.protobuf.Any" {
		return
	}
	for _, fragment := range []bool{false, true} {
		r := &graph.Resource{
			Kind: graph.Patch, Name: "EnvoyFilter shop/part", Object: &graph.Object{Kind: graph.EnvoyFilter, Name: "part"},
			Message: at.Message.Interface(), Contents: at.Resource.Contents, File: at.Resource.File, Fragment: fragment,
		}
		if fd := envoy.FieldOf(at); fd != nil {
			r.Into = fd.FullName()
		}
		s := &graph.Snapshot{}
		s.Add(r)
		s.Build()
		result := lint.Run(t.Context(), []*graph.Snapshot{s}, lint.Config{Rules: a.rules(), Target: judged, Profile: a.flagsOf(example).profile})
		for _, failure := range result.Failures {
			t.Errorf("%s %s: %v\n%s", example, at.Path, failure, failure.Stack)
		}
		fieldtest.Check(t, result.Diagnostics)
		if strings.HasPrefix(example, "good") && len(result.Diagnostics) > 0 {
			var text strings.Builder
			if err := report.Text(&text, result, report.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: %s as a patch (fragment: %v) is not silent:\n%s", example, at.Path, fragment, text.String())
		}
	}
}
