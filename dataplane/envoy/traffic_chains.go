package envoy

import (
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// connectionsMeet reports whether connections of the filter chain around a reference can reach a chain of a listener in another snapshot.
// A chain for HTTP/1.1 does not receive connections of a chain for HTTP/2: clients that offer both prefer HTTP/2.
func (t *Traffic) connectionsMeet(e *graph.Edge, in *Traffic, other *graph.Resource) bool {
	chain, where := graph.Around[*listenerv3.FilterChain](e.Place)
	own, isListener := e.From.Message.(*listenerv3.Listener)
	l, isListenerToo := other.Message.(*listenerv3.Listener)
	if where == nil || !isListener || !isListenerToo || l.GetDefaultFilterChain() != nil {
		return true
	}
	from, to := t.chainsOf(own), in.chainsOf(l)
	return from == nil || to == nil || slices.ContainsFunc(l.GetFilterChains(), func(c *listenerv3.FilterChain) bool {
		takes, there := from.Of(chain), to.Of(c)
		return takes.Meets(there) != match.No && takes.SharesProtocol(there) && !from.Passes(there, chain)
	})
}

func (t *Traffic) chainsOf(l *listenerv3.Listener) *match.Chains {
	known, ok := t.chains[l]
	if !ok {
		known = match.NewChains(l)
		t.chains[l] = known
	}
	return known
}
