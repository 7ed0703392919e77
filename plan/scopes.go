package plan

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
)

// The suffixes of the names of temporary scopes; the first one is also their key, which no request has.
const (
	warming = "~xdslint-warming"
	moving  = "~xdslint-moving"
)

// scopes adds temporary scopes. A scope whose route configuration the data plane does not have yet answers 404 until it
// arrives, since Envoy changes the scope at once (ScopedRdsConfigSubscription::addOrUpdateScopes). A temporary scope,
// whose key no request has, makes Envoy fetch the route configuration first.
func (p *planner) scopes() {
	p.handOver()
	for _, c := range p.changes.Of(graph.ScopedRouteConfiguration) {
		if c.Removed() {
			continue
		}
		scope, ok := c.New.Message.(*routev3.ScopedRouteConfiguration)
		if !ok || scope.GetOnDemand() || !p.replaces(c) {
			continue
		}
		for _, e := range p.changes.New.From(c.New) {
			if table := p.of(e.To); e.Kind == graph.RouteConfiguration && table != nil && table.change.Added() {
				p.warm(p.carrier(p.byName[Resource{c.Kind, c.Name}]), scope, table)
			}
		}
	}
}

// replaces reports whether a scope with this key or this name has had requests before.
func (p *planner) replaces(c *graph.Change) bool {
	if c.Old != nil {
		return true
	}
	for _, other := range p.changes.Of(graph.ScopedRouteConfiguration) {
		if other.Old != nil && sameKey(other.Old, c.New) {
			return true
		}
	}
	return false
}

func (p *planner) warm(s *step, scope *routev3.ScopedRouteConfiguration, table *step) {
	if p.early[table] != nil {
		p.after(p.early[table], s, nextPhase)
		return
	}
	temporary := &routev3.ScopedRouteConfiguration{
		Name: scope.GetName() + warming, RouteConfigurationName: scope.GetRouteConfigurationName(), Key: &routev3.ScopedRouteConfiguration_Key{},
	}
	for range scope.GetKey().GetFragments() {
		temporary.Key.Fragments = append(temporary.Key.Fragments, &routev3.ScopedRouteConfiguration_Key_Fragment{
			Type: &routev3.ScopedRouteConfiguration_Key_Fragment_StringKey{StringKey: warming},
		})
	}
	at := Resource{graph.ScopedRouteConfiguration, temporary.GetName()}
	begin := &step{Resource: at, part: fetching, like: p.altered(s.like, temporary), update: touched(at.Name, temporary, Touch{
		Field: "key", Value: warming, Why: "a temporary scope, which no request has, makes Envoy fetch route configuration " + quote(table.Name),
	})}
	end := &step{Resource: at, removes: true}
	p.all = append(p.all, begin, end)
	p.early[table] = begin
	p.after(table, begin, notBefore)
	p.after(begin, s, nextPhase)
	p.after(s, end, notBefore)
}
