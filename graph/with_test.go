package graph_test

import (
	"slices"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

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

// TestUsersOfOneName: resources that share a name are in their order among the users of a third one.
func TestUsersOfOneName(t *testing.T) {
	table := func(from graph.Source, targets ...string) *graph.Resource {
		m := &routev3.RouteConfiguration{Name: "public"}
		for _, target := range targets {
			m.RequestMirrorPolicies = append(m.RequestMirrorPolicies, &routev3.RouteAction_RequestMirrorPolicy{Cluster: target})
		}
		return &graph.Resource{Kind: graph.RouteConfiguration, Name: "public", Source: from, Message: m, File: &graph.SourceFile{}}
	}
	all := append(clusters("a", "b"), table(graph.ADS, "a", "b"), table(graph.Anywhere, "a"))
	s := &graph.Snapshot{Resources: all}
	s.Build()
	made := s.With(append(clusters("b"), all[0], all[2], all[3]))
	if users := made.To(all[0]); len(users) != 2 || users[0].From != all[2] || users[1].From != all[3] {
		t.Errorf("%d users in another order", len(users))
	}
}

// TestAnotherSource: a reference to another source leads to another resource of the same name.
func TestAnotherSource(t *testing.T) {
	file := graph.PathSource("/etc/envoy/eds.yaml")
	cluster := func(from *corev3.ConfigSource) *graph.Resource {
		m := &clusterv3.Cluster{
			Name: "shop", ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
			EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: from},
		}
		return &graph.Resource{Kind: graph.Cluster, Name: "shop", Message: m, File: &graph.SourceFile{}}
	}
	endpoints := func(from graph.Source) *graph.Resource {
		m := &endpointv3.ClusterLoadAssignment{ClusterName: "shop"}
		return &graph.Resource{Kind: graph.ClusterLoadAssignment, Name: "shop", Source: from, Message: m, File: &graph.SourceFile{}}
	}
	ads := &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}
	path := &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_PathConfigSource{
		PathConfigSource: &corev3.PathConfigSource{Path: "/etc/envoy/eds.yaml"},
	}}
	s := &graph.Snapshot{Resources: []*graph.Resource{cluster(ads), endpoints(graph.ADS), endpoints(file)}}
	s.Build()
	made := s.With([]*graph.Resource{cluster(path), s.Resources[1], s.Resources[2]})
	if made.Since(s) == nil || made.Serves(s.Resources[1]) || !made.Serves(s.Resources[2]) {
		t.Errorf("reached: %v %v", made.Serves(s.Resources[1]), made.Serves(s.Resources[2]))
	}
}

// TestCarrierRemoved: a name inside a resource goes with it.
func TestCarrierRemoved(t *testing.T) {
	s := build(t, `
- {"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: c, endpoints: [{lb_endpoints: [
    {endpoint: {address: {envoy_internal_address: {server_listener_name: in}}}}]}]}
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: other}
- {"@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: in, internal_listener: {}}
`)
	made := s.With(s.Resources[:2])
	all := made.References(graph.InternalListener)
	if made.Since(s) == nil || len(all) != 1 || all[0].To != nil {
		t.Errorf("%v", all)
	}
	if again := made.With(s.Resources); again.Since(made) == nil || again.References(graph.InternalListener)[0].To != s.Resources[2] {
		t.Error("it does not come back")
	}
}
