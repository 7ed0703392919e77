package route

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// upstream is a cluster of a route.
type upstream struct {
	cluster *clusterv3.Cluster
	at      lint.At
}

// upstreamsOf returns the clusters of a route that the snapshot has. known reports whether these are all, and at least one.
func upstreamsOf(p *lint.Pass, a *routev3.RouteAction) (all []upstream, known bool) {
	known = true
	add := func(name string) {
		u, ok := upstreamOf(p, name)
		if known = known && ok; ok {
			all = append(all, u)
		}
	}
	if name := a.GetCluster(); name != "" {
		add(name)
	}
	for _, c := range a.GetWeightedClusters().GetClusters() {
		add(c.GetName())
	}
	return all, known && len(all) > 0
}

func upstreamOf(p *lint.Pass, name string) (u upstream, ok bool) {
	r := p.Snapshot.Find(graph.Cluster, graph.Anywhere, name)
	if r == nil {
		return u, false
	}
	u.cluster, ok = r.Message.(*clusterv3.Cluster)
	u.at = r.At()
	return u, ok
}
