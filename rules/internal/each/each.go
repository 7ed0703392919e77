// Package each visits what Envoy builds: messages of the same types in other places do not count.
package each

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/lint"
)

// Cluster runs f for every cluster resource, and not for a cluster inside of another message.
func Cluster(f func(p *lint.Pass, at lint.At, c *clusterv3.Cluster)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if at.Place.Parent == nil {
			f(p, at, c)
		}
	})
}
