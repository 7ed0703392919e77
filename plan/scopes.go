package plan

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// The suffixes of the names of temporary scopes. Those of the first kind have their name as their key, which no request has.
const (
	warming = "~xdslint-warming"
	moving  = "~xdslint-moving"
)

// scopes adds temporary scopes. A scope whose route configuration the data plane does not have yet answers 404 until it
// arrives, since Envoy changes the scope at once (ScopedRdsConfigSubscription::addOrUpdateScopes). A temporary scope,
// whose key no request has, makes Envoy fetch the route configuration first.
func (p *planner) scopes() {
	p.handOver()
	all, hadRequests := p.changes.Of(graph.ScopedRouteConfiguration), map[string]bool{}
	for _, c := range all {
		if !c.Added() {
			hadRequests[envoy.ScopeKey(c.Old)] = true
		}
	}
	for _, c := range all {
		if c.Removed() {
			continue
		}
		scope, ok := c.New.Message.(*routev3.ScopedRouteConfiguration)
		if !ok || scope.GetOnDemand() || c.Added() && !hadRequests[envoy.ScopeKey(c.New)] {
			continue
		}
		for _, e := range p.changes.New.From(c.New) {
			if e.Kind == graph.RouteConfiguration && e.To != nil && !p.remains(e.To) {
				p.warm(p.carrier(p.byName[Resource{c.Kind, c.Name}]), scope, e.To)
			}
		}
	}
}

// remains reports whether Envoy has a route configuration while scopes change. It does not if all scopes that had it go to
// other ones: Envoy then requests it again, and a server that has sent it does not send it again.
func (p *planner) remains(table *graph.Resource) bool {
	before := p.changes.Old.Find(table.Kind, graph.Anywhere, table.Name)
	return before != nil && slices.ContainsFunc(p.changes.Old.To(before), func(e *graph.Edge) bool {
		c := p.changes.Find(e.From.Kind, e.From.Name)
		return c == nil || c.Removed() || p.had(c.New, table)
	})
}

func (p *planner) warm(s *step, scope *routev3.ScopedRouteConfiguration, table *graph.Resource) {
	fetched := Resource{table.Kind, table.Name}
	if p.early[fetched] != nil {
		p.after(p.early[fetched], s, nextPhase)
		return
	}
	temporary := &routev3.ScopedRouteConfiguration{
		Name: scope.GetName() + warming, RouteConfigurationName: scope.GetRouteConfigurationName(), Key: &routev3.ScopedRouteConfiguration_Key{},
	}
	for range scope.GetKey().GetFragments() {
		temporary.Key.Fragments = append(temporary.Key.Fragments, &routev3.ScopedRouteConfiguration_Key_Fragment{
			Type: &routev3.ScopedRouteConfiguration_Key_Fragment_StringKey{StringKey: temporary.GetName()},
		})
	}
	at := Resource{graph.ScopedRouteConfiguration, temporary.GetName()}
	begin := &step{Resource: at, part: fetching, like: p.altered(s.like, temporary), update: touched(at.Name, temporary, Touch{
		Field: "key", Value: at.Name, Why: "a temporary scope, which no request has, makes Envoy fetch route configuration " + quote(table.Name),
	})}
	end := &step{Resource: at, removes: true}
	p.all = append(p.all, begin, end)
	p.early[fetched] = begin
	if own := p.of(table); own != nil && own.change.Added() {
		p.after(own, begin, notBefore)
	}
	p.after(begin, s, nextPhase)
	p.after(s, end, notBefore)
}
