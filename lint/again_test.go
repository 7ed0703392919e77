package lint_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// backwards is a snapshot of clusters whose names are not in order.
func backwards() *graph.Snapshot {
	s := &graph.Snapshot{NoBootstrap: true}
	for i := range 10 {
		s.Add(cluster(fmt.Sprintf("shop-%d", 9-i), 0))
	}
	s.Build()
	return s
}

func cluster(name string, seconds int64) *graph.Resource {
	m := &clusterv3.Cluster{Name: name, ConnectTimeout: &durationpb.Duration{Seconds: seconds}}
	return &graph.Resource{Kind: graph.Cluster, Name: name, Message: m, File: pushed}
}

// replaced is a snapshot in which one cluster has another timeout.
func replaced(s *graph.Snapshot, i int, seconds int64) *graph.Snapshot {
	next := slices.Clone(s.Resources)
	next[i] = cluster(next[i].Name, seconds)
	return s.With(next)
}

// finding is a rule with findings in each cluster, in the place of a custom rule if it is one.
func finding(name string, each int, custom bool) *lint.Rule {
	rule := &lint.Rule{Group: "test", Name: name, Severity: lint.Warning}
	find := func(p *lint.Pass, r *graph.Resource) {
		for k := range each {
			p.Reportf(r.At(), "finding %d", k)
		}
	}
	rule.Run = lint.EachResource(find)
	if custom {
		rule.Origin = &lint.Origin{Name: "test", File: pushed}
		rule.Run = lint.ForOrigin(func() lint.Judge {
			return func(_ context.Context, passes []*lint.Pass) *lint.EvalError {
				for _, r := range passes[0].Snapshot.All() {
					find(passes[0], r)
				}
				return nil
			}
		})
	}
	return rule
}

// TestAgain: rare cases in which judgements cannot be reused, or not in any order.
func TestAgain(t *testing.T) {
	failing := &lint.Rule{Group: "test", Name: "failing", Severity: lint.Error, Run: lint.EachResource(func(_ *lint.Pass, r *graph.Resource) { panic(r.Name) })}
	for name, rules := range map[string][]*lint.Rule{
		"failures":                  {failing, finding("few", 2, false)},
		"too many":                  {finding("many", maxFindings/8, false)},
		"far too many":              {finding("many", maxFindings/2, false)},
		"too many with custom ones": {finding("many", maxFindings/15, false), finding("custom", maxFindings/15, true)},
		"too many custom ones":      {finding("few", 1, false), finding("custom", maxFindings/2, true)},
	} {
		t.Run(name, func(t *testing.T) {
			config := lint.Config{Rules: rules}
			s := backwards()
			_, judged := lint.RunAfter(t.Context(), s, config, nil)
			for i := range 3 {
				s = replaced(s, i, 1)
				var got *lint.Result
				got, judged = lint.RunAfter(t.Context(), s, config, judged)
				want := lint.Run(t.Context(), []*graph.Snapshot{s}, config)
				if a, b := texts(got), texts(want); !slices.Equal(a, b) {
					t.Fatalf("got %d\n%.2000s\nwant %d\n%.2000s", len(a), strings.Join(a, "\n"), len(b), strings.Join(b, "\n"))
				}
			}
		})
	}
}

// TestAnotherConfig: what was judged with one config is not used with another one.
func TestAnotherConfig(t *testing.T) {
	before, after := backwards(), backwards()
	between := &lint.Rule{Group: "test", Name: "between", Severity: lint.Error, Run: lint.ForTransition(func(p *lint.Pass, c *graph.Changes) {
		p.Reportf(c.New.Resources[0].At(), "a change")
	})}
	plain := lint.Config{Rules: []*lint.Rule{between, finding("few", 1, false)}}
	timed, push, less := plain, plain, plain
	timed.Timings = true
	push.Transition = &lint.Transition{Changes: graph.Diff(before, after)}
	less.Rules = plain.Rules[1:]
	all := []lint.Config{plain, timed, push, less}
	for _, first := range all {
		_, judged := lint.RunAfter(t.Context(), after, first, nil)
		for _, second := range all {
			got, _ := lint.RunAfter(t.Context(), after, second, judged)
			want := lint.Run(t.Context(), []*graph.Snapshot{after}, second)
			if !slices.Equal(texts(got), texts(want)) || (got.Timings == nil) != (want.Timings == nil) {
				t.Errorf("%+v after %+v: got\n%q\nwant\n%q", second, first, texts(got), texts(want))
			}
		}
	}
}

// TestEnded: a run whose context has ended leaves nothing to later runs.
func TestEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ending := &lint.Rule{Group: "test", Name: "ending", Severity: lint.Error, Run: lint.EachResource(func(_ *lint.Pass, r *graph.Resource) {
		if r.Name == "shop-4" {
			cancel()
		}
	})}
	if _, judged := lint.RunAfter(ctx, backwards(), lint.Config{Rules: []*lint.Rule{ending, finding("few", 1, false)}}, nil); judged != nil {
		t.Error("it can be used")
	}
}

// TestBranches: several goroutines make snapshots from one, and take from one run.
func TestBranches(t *testing.T) {
	config := lint.Config{Rules: rules.Builtin()}
	s := backwards()
	_, judged := lint.RunAfter(t.Context(), s, config, nil)
	var all sync.WaitGroup
	for branch := range 8 {
		all.Go(func() {
			s, judged := s, judged
			for i := range 5 {
				s = replaced(s, i, int64(branch))
				var got *lint.Result
				got, judged = lint.RunAfter(t.Context(), s, config, judged)
				if a, b := texts(got), texts(lint.Run(t.Context(), []*graph.Snapshot{s}, config)); !slices.Equal(a, b) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
				}
			}
		})
	}
	all.Wait()
}
