package plan

import (
	"google.golang.org/protobuf/proto"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// handOver removes a scope when another one takes its key: not before, since its requests would find no scope, and not
// after, since a key belongs to one scope. A scope that stays, and leaves its key to another one, is removed as well, and
// gets a substitute for one phase: Envoy removes scopes before it adds others, but loses a key that moves between two
// scopes that stay (ScopedConfigImpl::addOrUpdateRoutingScopes).
func (p *planner) handOver() {
	var left []*graph.Change
	takers := map[*graph.Change][]*step{}
	for _, c := range p.changes.Of(graph.ScopedRouteConfiguration) {
		if c.Added() || !c.Removed() && sameKey(c.Old, c.New) {
			continue
		}
		for _, other := range p.changes.Of(graph.ScopedRouteConfiguration) {
			if other != c && !other.Removed() && sameKey(c.Old, other.New) {
				takers[c] = append(takers[c], p.byName[Resource{other.Kind, other.Name}])
			}
		}
		if len(takers[c]) > 0 {
			left = append(left, c)
		}
	}
	leaves := map[*graph.Change]*step{}
	for _, c := range left {
		if leaves[c] = p.byName[Resource{c.Kind, c.Name}]; !c.Removed() {
			leaves[c] = p.substitute(leaves[c])
		}
	}
	for _, c := range left {
		for _, taker := range takers[c] {
			p.together(leaves[c], p.carrier(taker))
		}
	}
}

// substitute removes a scope, adds another one with its new content in the same phase, and returns to the scope itself in
// the next one. It returns the removal.
func (p *planner) substitute(own *step) *step {
	message, ok := own.update.Message.(*routev3.ScopedRouteConfiguration)
	if !ok {
		return own
	}
	scope := proto.CloneOf(message)
	scope.Name += moving
	at := Resource{own.Kind, scope.GetName()}
	gone := &step{Resource: own.Resource, removes: true}
	begin := &step{Resource: at, part: standIn, like: p.altered(own.like, scope), update: touched(at.Name, scope, Touch{
		Field: "name", Value: "not yet " + quote(own.Name), Why: "Envoy loses a key that moves between scopes which stay",
	})}
	end := &step{Resource: at, removes: true}
	p.all = append(p.all, gone, begin, end)
	p.carriers[own] = begin
	p.together(gone, begin)
	p.after(begin, own, nextPhase)
	p.together(own, end)
	return gone
}

// carrier returns the step by which a scope gets its new content: its own, or that of its substitute.
func (p *planner) carrier(own *step) *step {
	if s := p.carriers[own]; s != nil {
		return s
	}
	return own
}

func sameKey(a, b *graph.Resource) bool {
	one, ok := a.Message.(*routev3.ScopedRouteConfiguration)
	other, same := b.Message.(*routev3.ScopedRouteConfiguration)
	return ok && same && proto.Equal(one.GetKey(), other.GetKey())
}
