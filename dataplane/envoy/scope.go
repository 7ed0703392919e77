package envoy

import (
	"google.golang.org/protobuf/proto"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// ScopeKey identifies the key of a scope. It is empty for a scope without one, and for anything else.
func ScopeKey(r *graph.Resource) string {
	scope, _ := r.Message.(*routev3.ScopedRouteConfiguration)
	return scopeKey(scope)
}

func scopeKey(scope *routev3.ScopedRouteConfiguration) string {
	key, _ := proto.MarshalOptions{Deterministic: true}.Marshal(scope.GetKey()) // what was decoded can be encoded
	return string(key)
}

// KeyMove is a key that one scope leaves and another one takes.
type KeyMove struct{ From, To *graph.Change }

// KeyMoves returns the keys that move between scopes, in the order of the scopes that leave them.
func KeyMoves(changes *graph.Changes) (moves []KeyMove) {
	scopes, holders := changes.Of(graph.ScopedRouteConfiguration), map[string][]*graph.Change{}
	for _, c := range scopes {
		if !c.Removed() {
			key := ScopeKey(c.New)
			holders[key] = append(holders[key], c)
		}
	}
	for _, c := range scopes {
		if c.Added() {
			continue
		}
		key := ScopeKey(c.Old)
		if key == "" || !c.Removed() && key == ScopeKey(c.New) {
			continue
		}
		for _, holder := range holders[key] {
			moves = append(moves, KeyMove{c, holder})
		}
	}
	return moves
}
