package plan

import (
	"google.golang.org/protobuf/proto"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// handOver removes a scope when another one takes its key: not before, since its requests would find no scope, and not
// after, since a key belongs to one scope. A scope that stays, and leaves its key to another one, is removed as well, and
// gets a substitute for one phase: Envoy removes scopes before it adds others, but loses a key that moves between two
// scopes that stay (ScopedConfigImpl::addOrUpdateRoutingScopes).
func (p *planner) handOver() {
	moves, leaves := envoy.KeyMoves(p.changes), map[*graph.Change]*step{}
	for _, m := range moves {
		if leaves[m.From] != nil {
			continue
		}
		leaves[m.From] = p.byName[Resource{m.From.Kind, m.From.Name}]
		if !m.From.Removed() {
			leaves[m.From] = p.substitute(leaves[m.From])
		}
	}
	for _, m := range moves {
		p.together(leaves[m.From], p.carrier(p.byName[Resource{m.To.Kind, m.To.Name}]))
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
