// Package each visits the messages that Envoy builds something from. It skips messages of the same types in other places.
package each

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
)

// Cluster calls f for every cluster resource, but not for a cluster inside another message.
func Cluster(f func(p *lint.Pass, at lint.At, c *clusterv3.Cluster)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if at.Place.Parent == nil {
			f(p, at, c)
		}
	})
}
