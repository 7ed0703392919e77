package lint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// clusters is a snapshot with clusters named 0 … n-1.
func clusters(n int) *graph.Snapshot {
	s, file := &graph.Snapshot{}, &source.File{Name: "clusters.pb"}
	for i := range n {
		name := fmt.Sprint(i)
		s.Add(&graph.Resource{Kind: graph.Cluster, Name: name, Message: &clusterv3.Cluster{Name: name}, File: file})
	}
	s.Build()
	return s
}

func messages(r *lint.Result) string {
	var lines []string
	for _, d := range r.Diagnostics {
		lines = append(lines, d.Rule.ID()+": "+d.Message)
	}
	return strings.Join(lines, "\n")
}

func origin(name string) *lint.Origin {
	return &lint.Origin{Name: name, File: &source.File{Name: ".xdslint.yaml"}}
}

// TestFail: a house rule that cannot judge is told of once, at the first resource that it fails on, however the work is spread; what it
// found is gone, and the others' findings are all there.
func TestFail(t *testing.T) {
	acme := &lint.Group{Name: "acme"}
	every := acme.Add(&lint.Rule{Name: "every", Severity: lint.Info, Origin: origin("constraint acme/every"), Run: lint.Each(
		func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) { p.Reportf(at, "%s", c.GetName()) })})
	failing := acme.Add(&lint.Rule{Name: "failing", Origin: origin("constraint acme/failing"), Run: lint.Each(
		func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
			if len(c.GetName()) > 2 {
				p.Fail(&lint.EvalError{Message: "does not like " + c.GetName()})
			}
			p.Reportf(at, "%s", c.GetName())
		})})
	whole := acme.Add(&lint.Rule{Name: "whole", Origin: origin("constraint acme/whole"), Run: lint.ForSnapshot(
		func(p *lint.Pass) { p.Fail(&lint.EvalError{Message: "sees nothing"}) })})
	snapshots := []*graph.Snapshot{clusters(50), clusters(1000)}
	for range 20 {
		result := lint.Run(t.Context(), snapshots, lint.Config{Rules: []*lint.Rule{every, failing, whole}})
		found := strings.SplitN(messages(result), "\n", 3)
		want := []string{"house/cannot-judge: constraint acme/failing does not like 100", "house/cannot-judge: constraint acme/whole sees nothing"}
		if diff := cmp.Diff(want, found[:2]); diff != "" {
			t.Fatal(diff)
		}
		if n := len(result.Diagnostics); n != 1052 {
			t.Fatalf("%d findings", n)
		}
	}
}

// TestJointly: rules with one check are judged in one call, with those that run; and it is not called again when it could not judge.
func TestJointly(t *testing.T) {
	calls := 0
	check := lint.Jointly(func(_ context.Context, passes []*lint.Pass) *lint.EvalError {
		calls++
		for _, p := range passes {
			for _, r := range p.Snapshot.Resources {
				p.ReportResource(r, lint.Diagnostic{Message: r.Name})
			}
		}
		if len(passes[0].Snapshot.Resources) == 2 {
			return &lint.EvalError{Message: "crashed"}
		}
		return nil
	})
	plugin, acme := origin("plugin rules.wasm"), &lint.Group{Name: "acme"}
	var rules []*lint.Rule
	for _, name := range []string{"a", "b", "c"} {
		rules = append(rules, acme.Add(&lint.Rule{Name: name, Origin: plugin, Run: check}))
	}
	result := lint.Run(t.Context(), []*graph.Snapshot{clusters(1)}, lint.Config{Rules: rules[:2]})
	if got, want := messages(result), "acme/a: 0\nacme/b: 0"; got != want || calls != 1 {
		t.Errorf("%d calls found %s", calls, got)
	}
	calls = 0
	result = lint.Run(t.Context(), []*graph.Snapshot{clusters(1), clusters(2), clusters(3)}, lint.Config{Rules: rules})
	if got, want := messages(result), "house/cannot-judge: plugin rules.wasm crashed"; got != want || calls != 2 {
		t.Errorf("%d calls found %s", calls, got)
	}
}

// TestSpendAtOneResource: within a resource, a rule ends by what it has cost there, and not by what it has cost elsewhere meanwhile.
func TestSpendAtOneResource(t *testing.T) {
	tooMuch := &lint.EvalError{Message: "costs too much"}
	rule := (&lint.Group{Name: "acme"}).Add(&lint.Rule{Name: "dear", Origin: origin("constraint acme/dear"), Run: lint.Each(
		func(p *lint.Pass, _ lint.At, c *clusterv3.Cluster) {
			if !p.Spend(1, 500, tooMuch) {
				t.Errorf("%s: it ends too early", c.GetName())
			}
			if p.Spend(500, 500, tooMuch) {
				t.Errorf("%s: it goes on", c.GetName())
			}
		})})
	result := lint.Run(t.Context(), []*graph.Snapshot{clusters(100)}, lint.Config{Rules: []*lint.Rule{rule}})
	if got := messages(result); got != "house/cannot-judge: constraint acme/dear costs too much" {
		t.Error(got)
	}
}

// TestSpend: what a rule may spend in a run is bounded, and where it has spent too much is the same in every run; a failure before that is told instead.
func TestSpend(t *testing.T) {
	tooMuch := &lint.EvalError{Message: "costs too much"}
	for _, test := range []struct{ failing, limit int }{{-1, 500}, {700, 500}, {499, 500}, {3, 500}, {-1, 999}, {-1, 1000}} {
		rule := (&lint.Group{Name: "acme"}).Add(&lint.Rule{Name: "dear", Origin: origin("constraint acme/dear"), Run: lint.Each(
			func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
				if c.GetName() == fmt.Sprint(test.failing) {
					p.Fail(&lint.EvalError{Message: "fails"})
				}
				p.Spend(1, uint64(test.limit), tooMuch)
				p.Reportf(at, "%s", c.GetName())
			})})
		want := "house/cannot-judge: constraint acme/dear costs too much"
		if test.failing >= 0 && test.failing <= test.limit {
			want = "house/cannot-judge: constraint acme/dear fails"
		}
		snapshots := []*graph.Snapshot{clusters(1000)}
		for range 20 {
			result := lint.Run(t.Context(), snapshots, lint.Config{Rules: []*lint.Rule{rule}})
			if test.limit == 1000 {
				if len(result.Diagnostics) != 1000 {
					t.Fatalf("%+v: %d findings", test, len(result.Diagnostics))
				}
			} else if got := messages(result); got != want {
				t.Fatalf("%+v: %s", test, got)
			}
		}
	}
}
