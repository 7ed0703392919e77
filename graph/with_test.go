package graph_test

import (
	"slices"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/graph"
)

func clusters(names ...string) (all []*graph.Resource) {
	for _, name := range names {
		all = append(all, &graph.Resource{Kind: graph.Cluster, Name: name, Message: &clusterv3.Cluster{Name: name}, File: &graph.SourceFile{}})
	}
	return all
}

// TestWithOfNothing: a snapshot that is not built is none to take from.
func TestWithOfNothing(t *testing.T) {
	all := clusters("a", "b")
	for _, s := range []*graph.Snapshot{{}, {Resources: all}, {Resources: all[:1]}} {
		made := s.With(all)
		if made == s || len(made.All(graph.Cluster)) != 2 || made.Since(s) != nil {
			t.Errorf("%d clusters", len(made.All(graph.Cluster)))
		}
	}
}

// TestWorldOfItsOwn: what is declared of one snapshot is not declared of the one that it was made from.
func TestWorldOfItsOwn(t *testing.T) {
	s := &graph.Snapshot{Resources: clusters("a", "b")}
	s.Complete(graph.Secret, graph.ADS)
	s.Build()
	made := s.With(slices.Concat(s.Resources[1:], clusters("c")))
	if made.Since(s) == nil || made.World(graph.Secret, graph.ADS) != graph.Closed {
		t.Fatal("it was not made from the one before")
	}
	made.Complete(graph.Cluster, graph.ADS)
	if made.Since(s) != nil || s.World(graph.Cluster, graph.ADS) != graph.Open {
		t.Error("they share a world")
	}
}
