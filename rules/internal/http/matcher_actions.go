package http

import (
	"maps"
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/matcher/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

// withoutActions reports whether Envoy may make a matcher of clusters without its actions: it does not make those that follow an input that cannot
// select a route, and does not report the input (MatchTreeFactory::createOnMatchBase, MatcherClusterSpecifierPluginFactoryConfig).
func withoutActions(p *lint.Pass, at *graph.Place) bool {
	around := at.Enclosing("envoy.extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier")
	if around == nil {
		return false
	}
	specifier, ok := around.Message.Interface().(*clusterv3.MatcherClusterSpecifier)
	return ok && !allRouteInputs(p.Target.Extensions(), specifier.GetClusterMatcher())
}

// allRouteInputs reports whether routes can be selected by all inputs of a matcher.
func allRouteInputs(x *dataplane.Extensions, m *matcherv3.Matcher) bool {
	if m == nil {
		return true
	}
	if input := m.GetMatcherTree().GetInput(); input != nil && !envoy.RouteInput(x, decode.TypeName(input.GetTypedConfig().GetTypeUrl())) {
		return false
	}
	next := []*matcherv3.Matcher_OnMatch{m.GetOnNoMatch()}
	next = slices.AppendSeq(next, maps.Values(m.GetMatcherTree().GetExactMatchMap().GetMap()))
	next = slices.AppendSeq(next, maps.Values(m.GetMatcherTree().GetPrefixMatchMap().GetMap()))
	for _, field := range m.GetMatcherList().GetMatchers() {
		if !routePredicate(x, field.GetPredicate()) {
			return false
		}
		next = append(next, field.GetOnMatch())
	}
	return !slices.ContainsFunc(next, func(on *matcherv3.Matcher_OnMatch) bool { return !allRouteInputs(x, on.GetMatcher()) })
}

func routePredicate(x *dataplane.Extensions, predicate *matcherv3.Matcher_MatcherList_Predicate) bool {
	if input := predicate.GetSinglePredicate().GetInput(); input != nil {
		return envoy.RouteInput(x, decode.TypeName(input.GetTypedConfig().GetTypeUrl()))
	}
	parts := slices.Concat(predicate.GetOrMatcher().GetPredicate(), predicate.GetAndMatcher().GetPredicate())
	if not := predicate.GetNotMatcher(); not != nil {
		parts = append(parts, not)
	}
	return !slices.ContainsFunc(parts, func(part *matcherv3.Matcher_MatcherList_Predicate) bool { return !routePredicate(x, part) })
}
