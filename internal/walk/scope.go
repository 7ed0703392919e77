package walk

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
)

// findScope finds the route configuration of the scope whose key the headers give. Without one, the request does not have a route.
func (j *journey) findScope() bool {
	key, ok := j.scopeKey(j.manager.message.GetScopedRoutes().GetScopeKeyBuilder())
	if !ok {
		return true
	}
	known := j.view.World(graph.ScopedRouteConfiguration, graph.Anywhere) == graph.Closed
	for _, e := range j.manager.edges {
		if e.Kind != graph.ScopedRouteConfiguration || e.To == nil {
			continue
		}
		scope, ok := e.To.Message.(*routev3.ScopedRouteConfiguration)
		if ok && slices.Equal(keyOf(scope), key) {
			j.answer.Scope, j.answer.At.Scope = scope.GetName(), e.To.At()
			return j.tableOfScope(e.To)
		}
	}
	for _, scope := range j.manager.message.GetScopedRoutes().GetScopedRouteConfigurationsList().GetScopedRouteConfigurations() {
		if slices.Equal(keyOf(scope), key) {
			j.answer.doubt(unknownRoute, "the scope "+scope.GetName()+" is inline, which is not modelled")
			return j.lost()
		}
	}
	if !known {
		j.answer.doubt(unknownRoute, "scopes are not in the input")
		return j.lost()
	}
	return true
}

func (j *journey) tableOfScope(scope *graph.Resource) bool {
	for _, e := range j.view.From(scope) {
		if table, ok := targetTable(e); ok {
			for _, t := range j.manager.routes.Tables {
				if t.Levels[0].Table == table {
					j.table = j.tableOf(t)
					return true
				}
			}
		}
	}
	j.answer.doubt(unknownRoute, "the route configuration of the scope is not in the input")
	return j.lost()
}

func targetTable(e *graph.Edge) (*routev3.RouteConfiguration, bool) {
	if e.To == nil {
		return nil, false
	}
	table, ok := e.To.Message.(*routev3.RouteConfiguration)
	return table, ok
}

func keyOf(scope *routev3.ScopedRouteConfiguration) (all []string) {
	for _, f := range scope.GetKey().GetFragments() {
		all = append(all, f.GetStringKey())
	}
	return all
}

// scopeKey follows ScopeKeyBuilderImpl::computeScopeKey. ok is false if a fragment is missing.
func (j *journey) scopeKey(b *hcmv3.ScopedRoutes_ScopeKeyBuilder) (key []string, ok bool) {
	for _, f := range b.GetFragments() {
		part, ok := j.fragment(f.GetHeaderValueExtractor())
		if !ok {
			return nil, false
		}
		key = append(key, part)
	}
	return key, true
}

// fragment follows HeaderValueExtractorImpl::computeFragment.
func (j *journey) fragment(x *hcmv3.ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor) (string, bool) {
	all := j.headers.values(x.GetName())
	if len(all) == 0 {
		return "", false
	}
	parts := []string{all[0]}
	if x.GetElementSeparator() != "" {
		parts = strings.Split(all[0], x.GetElementSeparator())
	}
	element := x.GetElement()
	if element == nil {
		if int(x.GetIndex()) >= len(parts) {
			return "", false
		}
		return parts[x.GetIndex()], true
	}
	for _, part := range parts {
		if key, value, ok := strings.Cut(part, element.GetSeparator()); ok && key == element.GetKey() {
			return value, true
		} else if !ok && part == element.GetKey() {
			return "", true
		}
	}
	return "", false
}
