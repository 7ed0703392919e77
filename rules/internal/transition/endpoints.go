package transition

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

const fieldEDS = "envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name"

// edsOf returns the reference of a cluster to its endpoints; nil if it holds them itself.
func edsOf(s graph.View, cluster *graph.Resource) *graph.Edge {
	for _, e := range s.From(cluster) {
		if e.Kind == graph.ClusterLoadAssignment && e.Field == fieldEDS {
			return e
		}
	}
	return nil
}

// endpointsOf returns the endpoints of a cluster and the resource that holds them; nil if EDS does not have them.
func endpointsOf(s graph.View, cluster *graph.Resource) (*endpointv3.ClusterLoadAssignment, *graph.Resource) {
	if e := edsOf(s, cluster); e != nil {
		if e.To == nil {
			return nil, nil
		}
		cla, _ := e.To.Message.(*endpointv3.ClusterLoadAssignment)
		return cla, e.To
	}
	c, _ := cluster.Message.(*clusterv3.Cluster)
	return c.GetLoadAssignment(), cluster
}

// touched returns the clusters that a push changes, or whose endpoints it changes.
func touched(p *lint.Pass, changes *graph.Changes) (all []*graph.Resource) {
	names := map[string]bool{}
	for _, change := range changes.Of(graph.Cluster) {
		names[change.Name] = true
	}
	of := func(s graph.View, assignment *graph.Resource) {
		for _, e := range s.To(assignment) {
			names[e.From.Name] = names[e.From.Name] || e.From.Kind == graph.Cluster
		}
	}
	for _, change := range changes.Of(graph.ClusterLoadAssignment) {
		if !change.Added() {
			of(p.Old, change.Old)
		}
		if !change.Removed() {
			of(p.Snapshot, change.New)
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, r := range p.Snapshot.All(graph.Cluster) {
		if names[r.Name] {
			all = append(all, r)
		}
	}
	return all
}

// holdsEndpoints reports whether a cluster of this type gets all its endpoints from a load assignment.
func holdsEndpoints(cluster *graph.Resource) bool {
	c, ok := cluster.Message.(*clusterv3.Cluster)
	if !ok || c.GetClusterType() != nil {
		return false
	}
	return c.GetType() != clusterv3.Cluster_ORIGINAL_DST
}

// warming describes what a new cluster waits for before Envoy uses it; empty if it does not wait.
func warming(cluster *graph.Resource) string {
	c, _ := cluster.Message.(*clusterv3.Cluster)
	secrets := false
	cluster.Walk(func(at *graph.Place) {
		if sds, ok := at.Message.Interface().(*tlsv3.SdsSecretConfig); ok && sds.GetSdsConfig() != nil {
			secrets = true
		}
	})
	var waits []string
	switch t := c.GetType(); {
	case c.GetClusterType() != nil:
	case t == clusterv3.Cluster_EDS:
		waits = append(waits, "its endpoints over EDS")
	case t == clusterv3.Cluster_STRICT_DNS || t == clusterv3.Cluster_LOGICAL_DNS:
		waits = append(waits, "the answer of DNS")
	}
	if secrets {
		waits = append(waits, "its secrets over SDS")
	}
	if len(c.GetHealthChecks()) > 0 {
		waits = append(waits, "its first health checks")
	}
	return words.And(waits)
}
