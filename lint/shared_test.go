package lint_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// TestSharedByUnits: rules that judge the same resource compute a shared value once.
func TestSharedByUnits(t *testing.T) {
	computed := 0
	check := lint.EachResource(func(p *lint.Pass, _ *graph.Resource) { lint.Shared(p, t, func() int { computed++; return computed }) }, graph.Cluster)
	rules := []*lint.Rule{{Group: "a", Name: "b", Severity: lint.Info, Run: check}, {Group: "a", Name: "c", Severity: lint.Info, Run: check}}
	s := &graph.Snapshot{}
	s.Add(&graph.Resource{Kind: graph.Cluster, Name: "shop", File: &graph.SourceFile{}})
	if result := lint.Run(t.Context(), []*graph.Snapshot{s}, lint.Config{Rules: rules}); len(result.Failures) > 0 || computed != 1 {
		t.Errorf("computed %d times; %v", computed, result.Failures)
	}
}

// TestSharedAfter: what a shared value depends on counts as asked by each resource that uses it: all are judged again when that changes.
func TestSharedAfter(t *testing.T) {
	type slow struct{}
	check := lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if lint.Shared(p, slow{}, func() bool {
			return p.Snapshot.Named(graph.Cluster, "shop-0")[0].Message.(*clusterv3.Cluster).GetConnectTimeout().GetSeconds() > 5
		}) {
			p.ReportResource(r, lint.Diagnostic{Message: "a cluster is slow"})
		}
	}, graph.Cluster)
	config := lint.Config{Rules: []*lint.Rule{{Group: "a", Name: "b", Severity: lint.Info, Run: check}}}
	s := backwards()
	_, judged := lint.RunAfter(t.Context(), s, config, nil)
	if result, _ := lint.RunAfter(t.Context(), replaced(s, 9, 10), config, judged); len(result.Diagnostics) != len(s.Resources) {
		t.Errorf("%d findings", len(result.Diagnostics))
	}
}

// TestShared: the rules of a snapshot compute a shared value once, and each snapshot has its own.
func TestShared(t *testing.T) {
	computed, seen := 0, map[graph.View]int{}
	check := lint.ForSnapshot(func(p *lint.Pass) {
		seen[p.Snapshot] += lint.Shared(p, t, func() int { computed++; return computed })
	})
	rules := []*lint.Rule{{Group: "a", Name: "b", Severity: lint.Info, Run: check}, {Group: "a", Name: "c", Severity: lint.Info, Run: check}}
	one, two := &graph.Snapshot{}, &graph.Snapshot{}
	if result := lint.Run(t.Context(), []*graph.Snapshot{one, two}, lint.Config{Rules: rules}); len(result.Failures) > 0 {
		t.Fatal(result.Failures)
	}
	if computed != 2 || seen[one] != 2 || seen[two] != 4 {
		t.Errorf("computed %d times: %v", computed, seen)
	}
}

// TestHereOutside: the messages of a resource share a value about the message that they are in, and the next resource, whose places can be where
// those of this one were, has its own.
func TestHereOutside(t *testing.T) {
	var computed atomic.Int32
	check := lint.Each(func(p *lint.Pass, at lint.At, _ *clusterv3.CircuitBreakers_Thresholds) {
		cluster := at.Place.Parent.Parent
		name := lint.Here(p, t, cluster, func() string {
			computed.Add(1)
			return cluster.Message.Interface().(*clusterv3.Cluster).GetName()
		})
		if name != at.Place.Resource.Name {
			t.Errorf("%s is in %s", name, at.Place.Resource.Name)
		}
	})
	rules := []*lint.Rule{{Group: "a", Name: "b", Severity: lint.Info, Run: check}, {Group: "a", Name: "c", Severity: lint.Info, Run: check}}
	s := &graph.Snapshot{}
	for i := range 100 {
		name := fmt.Sprintf("shop-%d", i)
		m := &clusterv3.Cluster{Name: name, CircuitBreakers: &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{}, {}, {}}}}
		s.Add(&graph.Resource{Kind: graph.Cluster, Name: name, Message: m, File: &graph.SourceFile{}})
	}
	if result := lint.Run(t.Context(), []*graph.Snapshot{s}, lint.Config{Rules: rules}); len(result.Failures) > 0 || computed.Load() != 100 {
		t.Errorf("computed %d times; %v", computed.Load(), result.Failures)
	}
}
