package lint_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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

// rulesOf makes rules of one origin, which judges every snapshot with one function.
func rulesOf(from string, judge func(passes []*lint.Pass) *lint.EvalError, names ...string) (rules []*lint.Rule) {
	check := lint.ForOrigin(func() lint.Judge {
		return func(_ context.Context, passes []*lint.Pass) *lint.EvalError { return judge(passes) }
	})
	at, acme := origin(from), &lint.Group{Name: "acme"}
	for _, name := range names {
		rules = append(rules, acme.Add(&lint.Rule{Name: name, Severity: lint.Info, Origin: at, Run: check}))
	}
	return rules
}

// everyResource reports each resource by each rule.
func everyResource(passes []*lint.Pass) *lint.EvalError {
	for _, p := range passes {
		for _, r := range p.Snapshot.All() {
			p.ReportResource(r, lint.Diagnostic{Message: r.Name})
		}
	}
	return nil
}

// failing reports the resources until it meets one that it cannot judge.
func failing(name string) func([]*lint.Pass) *lint.EvalError {
	return func(passes []*lint.Pass) *lint.EvalError {
		for _, r := range passes[0].Snapshot.All() {
			if r.Name == name {
				return &lint.EvalError{Message: "does not like " + name, Notes: []string{"a note"}, Help: "rename it"}
			}
			for _, p := range passes {
				p.ReportResource(r, lint.Diagnostic{Message: r.Name})
			}
		}
		return nil
	}
}

// TestCannotJudge: an origin that fails is reported once, and all of its findings are dropped. The findings of all other origins are kept.
func TestCannotJudge(t *testing.T) {
	rules := slices.Concat(
		rulesOf("constraint acme/every", everyResource, "every"),
		rulesOf("constraint acme/fails", failing("100"), "fails"),
		rulesOf("constraint acme/empty", func([]*lint.Pass) *lint.EvalError { return &lint.EvalError{Message: "sees nothing"} }, "empty"),
	)
	snapshots := []*graph.Snapshot{clusters(50), clusters(1000)}
	result := lint.Run(t.Context(), snapshots, lint.Config{Rules: rules})
	found := strings.SplitN(messages(result), "\n", 3)
	want := []string{"house/cannot-judge: constraint acme/empty sees nothing", "house/cannot-judge: constraint acme/fails does not like 100"}
	if diff := cmp.Diff(want, found[:2]); diff != "" {
		t.Error(diff)
	}
	if n := len(result.Diagnostics); n != 1052 {
		t.Errorf("%d findings", n)
	}
	if len(result.Unable) != 2 || result.Unable[0].Name != "constraint acme/empty" || result.Unable[1].Name != "constraint acme/fails" {
		t.Errorf("unable: %v", result.Unable)
	}
	if d := result.Diagnostics[1]; d.Help != "rename it" || !slices.Equal(d.Notes, []string{"a note"}) || d.Resource.File.Name != ".xdslint.yaml" {
		t.Errorf("%+v", d)
	}
}

// TestForOrigin: the rules of one origin are judged in one call for each snapshot, with those that run, until it fails.
func TestForOrigin(t *testing.T) {
	calls := 0
	rules := rulesOf("plugin rules.wasm", func(passes []*lint.Pass) *lint.EvalError {
		calls++
		if len(passes[0].Snapshot.All()) == 2 {
			return &lint.EvalError{Message: "crashed"}
		}
		return everyResource(passes)
	}, "a", "b", "c")
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

// TestOriginPanics: a panic is contained in the snapshot in which it happens.
func TestOriginPanics(t *testing.T) {
	rules := rulesOf("constraint acme/panics", func(passes []*lint.Pass) *lint.EvalError {
		if len(passes[0].Snapshot.All()) == 2 {
			panic("oops")
		}
		return everyResource(passes)
	}, "panics")
	snapshots := []*graph.Snapshot{clusters(1), clusters(2), clusters(1)}
	result := lint.Run(t.Context(), snapshots, lint.Config{Rules: rules, Timings: true})
	if len(result.Diagnostics) != 2 || len(result.Unable) != 0 {
		t.Errorf("%d findings, unable: %v", len(result.Diagnostics), result.Unable)
	}
	if len(result.Failures) != 1 || result.Failures[0].Panic != "oops" || result.Failures[0].Snapshot != snapshots[1] || result.Failures[0].Rule != rules[0] {
		t.Errorf("failures: %v", result.Failures)
	}
	if result.Timings[rules[0]] <= 0 {
		t.Error("it took no time")
	}
}

// TestOriginsDoNotDependOnScheduling: a run has the same findings whatever fails, in whatever order the rules are listed, and on any number of processors.
func TestOriginsDoNotDependOnScheduling(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	builtIn := (&lint.Group{Name: "cluster"}).Add(&lint.Rule{Name: "every", Severity: lint.Warning, Run: lint.Each(
		func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) { p.Reportf(at, "%s", c.GetName()) })})
	rapid.Check(t, func(t *rapid.T) {
		rules := []*lint.Rule{builtIn}
		for i := range rapid.IntRange(1, 6).Draw(t, "origins") {
			judge := everyResource
			if fails := rapid.IntRange(-20, 20).Draw(t, "fails"); fails >= 0 {
				judge = failing(fmt.Sprint(fails))
			}
			rules = append(rules, rulesOf(fmt.Sprintf("constraint acme/r%d", i), judge, fmt.Sprintf("r%d", i), fmt.Sprintf("s%d", i))...)
		}
		snapshots := []*graph.Snapshot{clusters(rapid.IntRange(0, 15).Draw(t, "small")), clusters(rapid.IntRange(0, 30).Draw(t, "large"))}
		found := func(processors int, rules []*lint.Rule) string {
			runtime.GOMAXPROCS(processors)
			result := lint.Run(context.Background(), snapshots, lint.Config{Rules: rules})
			for _, o := range result.Unable {
				result.Diagnostics = append(result.Diagnostics, lint.Diagnostic{Rule: lint.CannotJudge, Message: "in Unable: " + o.Name})
			}
			return messages(result)
		}
		want := found(1, rules)
		for processors := range 4 {
			if diff := cmp.Diff(want, found(1+2*processors, rapid.Permutation(rules).Draw(t, "order"))); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
