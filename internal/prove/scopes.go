package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/walk"
)

// scope is a scope of a connection manager whose table is in the input.
type scope struct {
	key   []string
	table *envoy.RouteTable
	other string // what else it says
}

// scopes compares the tables of the scopes that requests choose with the same key.
func (p *prover) scopes(what string, w way, a, b *manager) {
	scoped := a.message.GetScopedRoutes() != nil && b.message.GetScopedRoutes() != nil
	if scoped && p.old.ofScopes(a) == p.now.ofScopes(b) {
		return
	}
	olds, known := p.old.scopesOf(a)
	news, also := p.now.scopesOf(b)
	builder := a.message.GetScopedRoutes().GetScopeKeyBuilder()
	if !scoped || !known || !also || canonical(a.at.Resource(), builder) != canonical(b.at.Resource(), b.message.GetScopedRoutes().GetScopeKeyBuilder()) {
		p.search(w)
		p.undecided(what + ": the routes of scopes differ")
		return
	}
	all := maps.Clone(olds)
	maps.Copy(all, news)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		x, y := olds[id], news[id]
		w := w.with(headersFor(builder, all[id].key))
		about := fmt.Sprintf("%s, scope %s", what, strings.Join(all[id].key, ", "))
		switch {
		case x == nil || y == nil:
			if !p.search(w) {
				p.undecided(about + ": only " + map[bool]string{true: "NEW", false: "OLD"}[x == nil] + " has it")
			}
		case x.other != y.other:
			p.undecided(about + ": on_demand differs")
		default:
			p.tablePair(about, w, a, b, x.table, y.table)
		}
	}
}

// ofScopes is what is compared of the scopes of a connection manager: all that it could refer to.
func (s *side) ofScopes(m *manager) string {
	text := encoded(shallow(m.at.Resource(), m.message.GetScopedRoutes(), "name")) + s.allClusters()
	for _, r := range s.view.All(graph.ScopedRouteConfiguration, graph.RouteConfiguration, graph.VirtualHost) {
		text += "\x00" + s.referred(r)
	}
	return text
}

// scopesOf returns the scopes of a connection manager by their keys. They are not known if some come otherwise than as resources of the input.
func (s *side) scopesOf(m *manager) (all map[string]*scope, known bool) {
	all = map[string]*scope{}
	if m.message.GetScopedRoutes().GetScopedRds() == nil {
		return nil, false
	}
	for _, r := range s.view.All(graph.ScopedRouteConfiguration) {
		message, ok := r.Message.(*routev3.ScopedRouteConfiguration)
		table := s.tableOfScope(m, r)
		made := &scope{table: table, other: fmt.Sprint(message.GetOnDemand())}
		for _, f := range message.GetKey().GetFragments() {
			made.key = append(made.key, f.GetStringKey())
		}
		id := fmt.Sprintf("%q", made.key)
		if !ok || table == nil || all[id] != nil {
			return nil, false
		}
		all[id] = made
	}
	return all, s.view.World(graph.ScopedRouteConfiguration, graph.Anywhere) == graph.Closed
}

// tableOfScope returns the table of a scope, or nil if it is not in the input.
func (s *side) tableOfScope(m *manager, scope *graph.Resource) *envoy.RouteTable {
	for _, e := range s.view.From(scope) {
		if e.To == nil || e.Kind != graph.RouteConfiguration {
			continue
		}
		for _, t := range m.routes.Tables {
			if t.Levels[0].Table == e.To.Message {
				return t
			}
		}
	}
	return nil
}

// headersFor returns headers from which a builder makes a key.
func headersFor(b *hcmv3.ScopedRoutes_ScopeKeyBuilder, key []string) (all []walk.Header) {
	for i, f := range b.GetFragments() {
		if i == len(key) {
			break
		}
		x, value := f.GetHeaderValueExtractor(), key[i]
		if element := x.GetElement(); element != nil {
			value = element.GetKey() + element.GetSeparator() + value
		}
		all = append(all, walk.Header{x.GetName(), strings.Repeat(x.GetElementSeparator(), int(min(x.GetIndex(), 100))) + value})
	}
	return all
}
