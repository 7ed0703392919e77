// Package endpoint holds the rules about the endpoints of clusters.
package endpoint

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "endpoint", Summary: "the endpoints of clusters: weights, drops and localities", Family: dataplane.Envoy}

// clusterOf returns the cluster around a load assignment, or nil if it is a resource of EDS. ok is false if it is neither.
func clusterOf(at lint.At) (c *clusterv3.Cluster, ok bool) {
	if at.Place.Parent == nil {
		return nil, at.Resource().Kind == graph.ClusterLoadAssignment
	}
	c, ok = at.Place.Parent.Message.Interface().(*clusterv3.Cluster)
	return c, ok && at.Place.Parent.Parent == nil
}

// everyCluster reports whether something is true of each cluster that uses a load assignment, and there is one.
func everyCluster(p *lint.Pass, at lint.At, is func(c *clusterv3.Cluster) bool) bool {
	own, ok := clusterOf(at)
	if own != nil || !ok {
		return ok && is(own)
	}
	users := p.Snapshot.To(at.Resource())
	return len(users) > 0 && !slices.ContainsFunc(users, func(e *graph.Edge) bool {
		c, ok := e.From.Message.(*clusterv3.Cluster)
		return !ok || !is(c)
	})
}
