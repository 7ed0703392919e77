package match_test

import (
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// TestPartition: each pair of chains that take one connection is that of a connection in the partition.
func TestPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sides [2]*match.Chains
		for i := range sides {
			l := &listenerv3.Listener{}
			for range rapid.IntRange(0, 3).Draw(t, "chains") {
				l.FilterChains = append(l.FilterChains, &listenerv3.FilterChain{FilterChainMatch: drawChain(t)})
			}
			sides[i] = match.NewChains(l)
		}
		all, ok := sides[0].Partition(sides[1])
		if !ok {
			return
		}
		pairs := map[[2]*listenerv3.FilterChain]bool{}
		for _, c := range all {
			pairs[[2]*listenerv3.FilterChain{sides[0].Take(c), sides[1].Take(c)}] = true
		}
		for range 10 {
			c := drawConnection(t)
			if !pairs[[2]*listenerv3.FilterChain{sides[0].Take(c), sides[1].Take(c)}] {
				t.Fatalf("%+v is not like any of %d connections", c, len(all))
			}
		}
	})
}
