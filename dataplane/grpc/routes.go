package grpc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// route is a route of a table, and its place.
type route struct {
	at    graph.At
	route *routev3.Route
}

// eachRoute calls f for each route that a client does not leave out unread (routesProtoToSlice): it skips those that match query parameters.
func eachRoute(t Table, f func(r route) []Fault) (all []Fault) {
	for i, host := range t.Config.GetVirtualHosts() {
		for j, r := range host.GetRoutes() {
			if r.GetMatch() == nil || len(r.GetMatch().GetQueryParameters()) == 0 {
				all = append(all, f(route{t.At.Item("virtual_hosts", i).Item("routes", j), r})...)
			}
		}
	}
	return all
}

// RouteMatches checks which RPCs the routes match (routesProtoToSlice, gRFC A28).
func (c Client) RouteMatches(t Table) []Fault {
	return eachRoute(t, func(r route) []Fault {
		if r.route.GetMatch() == nil {
			return rejected(r.at, "the route has no match", "doesn't have a match", "write a match, such as prefix: /")
		}
		at := r.at.Field("match")
		all := c.path(at, r.route.GetMatch())
		for i, h := range r.route.GetMatch().GetHeaders() {
			all = append(all, c.header(at.Item("headers", i), h)...)
		}
		if d := r.route.GetMatch().GetRuntimeFraction().GetDefaultValue().GetDenominator(); d > 2 && c.is(Java, Core) {
			all = append(all, rejected(at.Field("runtime_fraction"), "gRPC does not know this denominator", "", "write HUNDRED, TEN_THOUSAND or MILLION")...)
		}
		return all
	})
}

func (c Client) path(at graph.At, m *routev3.RouteMatch) []Fault {
	const help = "write prefix, path or safe_regex"
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix, *routev3.RouteMatch_Path:
		return nil
	case *routev3.RouteMatch_SafeRegex:
		return c.pattern(at.Field("safe_regex", "regex"), p.SafeRegex.GetRegex())
	case nil:
		return rejected(at, "the route does not say which paths it matches", "doesn't have a path specifier", help)
	}
	return rejected(at.Field(chosen(m, "path_specifier")), "gRPC does not support this kind of path match", "has an unrecognized path specifier", help)
}

// chosen returns the name of the field that is set in a oneof.
func chosen(m proto.Message, oneof string) string {
	r := m.ProtoReflect()
	for i := range r.Descriptor().Oneofs().Len() {
		if o := r.Descriptor().Oneofs().Get(i); string(o.Name()) == oneof && r.WhichOneof(o) != nil {
			return string(r.WhichOneof(o).Name())
		}
	}
	return oneof
}

func (c Client) header(at graph.At, h *routev3.HeaderMatcher) []Fault {
	empty := func(field, kind, text string) []Fault {
		if text != "" {
			return nil
		}
		return rejected(at.Field(field), fmt.Sprintf("the %s of a header matcher is empty", kind), fmt.Sprintf("empty %s is not allowed in StringMatcher", kind), "to match any value, write present_match: true")
	}
	switch m := h.GetHeaderMatchSpecifier().(type) {
	case *routev3.HeaderMatcher_SafeRegexMatch: //nolint:staticcheck // deprecated, and in use
		return c.pattern(at.Field("safe_regex_match", "regex"), m.SafeRegexMatch.GetRegex())
	case *routev3.HeaderMatcher_PrefixMatch: //nolint:staticcheck // deprecated, and in use
		return empty("prefix_match", "prefix", m.PrefixMatch)
	case *routev3.HeaderMatcher_SuffixMatch: //nolint:staticcheck // deprecated, and in use
		return empty("suffix_match", "suffix", m.SuffixMatch)
	case *routev3.HeaderMatcher_ContainsMatch: //nolint:staticcheck // deprecated, and in use
		return empty("contains_match", "contains", m.ContainsMatch)
	case *routev3.HeaderMatcher_StringMatch:
		return c.text(at.Field("string_match"), m.StringMatch)
	case *routev3.HeaderMatcher_RangeMatch:
		if m.RangeMatch.GetStart() > m.RangeMatch.GetEnd() {
			const message, help = "the range of a header matcher ends before it starts", "swap start and end"
			if c.is(Core) {
				return rejected(at.Field("range_match"), message, "", help)
			}
			return accepted(at.Field("range_match"), Fails, message, "matches no RPC with it", help)
		}
	case nil:
		return rejected(at, "a header matcher says only a name", "has an unrecognized header matcher", "to match any value, write present_match: true")
	}
	return nil
}

// RouteActions checks where the routes send RPCs (routesProtoToSlice, gRFC A28). Java rejects routes with an action that gRPC lacks.
func (c Client) RouteActions(t Table) []Fault {
	return eachRoute(t, func(r route) []Fault {
		const then = "fails each RPC that matches the route with UNAVAILABLE"
		switch r.route.GetAction().(type) {
		case *routev3.Route_Route:
			faults := c.destination(r.at.Field("route"), r.route.GetRoute())
			if t.Reader == OfServer && !slices.ContainsFunc(faults, func(f Fault) bool { return f.Effect == Rejects }) {
				return accepted(r.at.Field("route"), Fails, "a server of gRPC does not forward RPCs", then, "write non_forwarding_action: {}")
			}
			return faults
		case *routev3.Route_NonForwardingAction:
			if t.Reader == OfClient {
				return accepted(r.at.Field("non_forwarding_action"), Fails, "the route of a client has no destination", then, "write route")
			}
			return nil
		}
		at, message := r.at, "the route has no action"
		if r.route.GetAction() != nil {
			field := chosen(r.route, "action")
			at, message = r.at.Field(field), "gRPC does not support "+field
		}
		if c.is(Java) {
			return rejected(at, message, "", "write route")
		}
		return accepted(at, Fails, message, then, "write route")
	})
}

func (c Client) destination(at graph.At, a *routev3.RouteAction) []Fault {
	const dropped = "drops the route: RPCs match the routes after it, or fail"
	switch s := a.GetClusterSpecifier().(type) {
	case *routev3.RouteAction_Cluster:
		if s.Cluster == "" && c.is(Core) {
			return rejected(at.Field("cluster"), "the route names no cluster", "", "write the name of a cluster")
		}
		return nil
	case *routev3.RouteAction_WeightedClusters:
		return c.weights(at.Field("weighted_clusters"), s.WeightedClusters)
	case *routev3.RouteAction_ClusterSpecifierPlugin:
		return nil
	case nil:
		return accepted(at, Fails, "the route names no cluster", dropped, "write cluster or weighted_clusters")
	}
	field := chosen(a, "cluster_specifier")
	return accepted(at.Field(field), Fails, "gRPC does not support "+field, dropped, "write cluster or weighted_clusters")
}

func (c Client) weights(at graph.At, w *routev3.WeightedCluster) (all []Fault) {
	var total uint64
	for i, member := range w.GetClusters() {
		total += uint64(member.GetWeight().GetValue())
		if member.GetName() == "" && c.is(Core) {
			all = append(all, rejected(at.Item("clusters", i), "a member of weighted_clusters has no name", "", "write the name of a cluster")...)
		}
	}
	switch {
	case total == 0:
		all = append(all, rejected(at, "no member of weighted_clusters has a weight", "has no valid cluster in WeightedCluster action", "give at least one a weight above 0")...)
	case total > math.MaxUint32:
		all = append(all, rejected(at, fmt.Sprintf("the weights add up to %d", total), "total weight of clusters exceeds MaxUint32", "keep the sum below 4294967296")...)
	}
	return all
}

// RoutesNeverTaken reports routes that no RPC takes: those that the client drops, and those whose path no RPC has (gRFC A28). The path of an
// RPC is /service/method.
func (c Client) RoutesNeverTaken(t Table) (all []Fault) {
	for i, host := range t.Config.GetVirtualHosts() {
		for j, r := range host.GetRoutes() {
			all = append(all, c.neverTaken(t, t.At.Item("virtual_hosts", i).Item("routes", j).Field("match"), r.GetMatch())...)
		}
	}
	return all
}

func (c Client) neverTaken(t Table, at graph.At, m *routev3.RouteMatch) []Fault {
	const then, help = "never takes the route", "RPCs have paths such as /shop.Orders/Get"
	if len(m.GetQueryParameters()) > 0 {
		return accepted(at.Field("query_parameters"), Fails, "gRPC does not match query parameters", "drops the route: RPCs match the routes after it, or fail", "match headers instead")
	}
	for i, h := range m.GetHeaders() {
		if c.absent(t, strings.ToLower(h.GetName())) && !fitsAbsent(h) {
			return accepted(at.Item("headers", i).Field("name"), Fails, fmt.Sprintf("gRPC does not match the header %s", h.GetName()), then, "match another header")
		}
	}
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		if p.Prefix != "" && !strings.HasPrefix(p.Prefix, "/") {
			return accepted(at.Field("prefix"), Fails, fmt.Sprintf("no RPC has a path that begins with %q", p.Prefix), then, help)
		}
	case *routev3.RouteMatch_Path:
		if parts := strings.Split(p.Path, "/"); len(parts) != 3 || parts[0] != "" || parts[1] == "" || parts[2] == "" {
			return accepted(at.Field("path"), Fails, fmt.Sprintf("no RPC has the path %q", p.Path), then, help)
		}
	}
	return nil
}

// absent reports whether RPCs never have a header when a route is chosen (configSelector.SelectConfig). A client of Go lacks those that it adds
// itself, and a server those that it takes away (http2Server.operateHeaders). The others lack binary ones.
func (c Client) absent(t Table, name string) bool {
	lacking := pseudo(name) || slices.Contains(reserved, name)
	onServer := pseudo(name) && name != ":authority" || slices.Contains(reserved[2:], name)
	switch {
	case !c.is(Go):
		return strings.HasSuffix(name, "-bin")
	case t.Reader == OfServer:
		return onServer
	case t.Reader == OfClient:
		return lacking
	}
	return lacking && onServer
}

// fitsAbsent reports whether a matcher fits an RPC without the header.
func fitsAbsent(h *routev3.HeaderMatcher) bool {
	m, ok := h.GetHeaderMatchSpecifier().(*routev3.HeaderMatcher_PresentMatch)
	return ok && m.PresentMatch == h.GetInvertMatch()
}

// VirtualHosts reports tables and virtual hosts that no RPC can use (generateRDSUpdateFromRouteConfiguration, findBestMatchingVirtualHost).
func (c Client) VirtualHosts(t Table) (all []Fault) {
	if len(t.Config.GetVirtualHosts()) == 0 {
		return accepted(t.At, Fails, "the route configuration has no virtual host", "fails all RPCs with UNAVAILABLE", "add a virtual host")
	}
	for i, host := range t.Config.GetVirtualHosts() {
		at := t.At.Item("virtual_hosts", i)
		if len(host.GetRoutes()) == 0 {
			all = append(all, accepted(at, Fails, "the virtual host has no routes", "fails all RPCs to its domains with UNAVAILABLE", "add a route")...)
		}
		if len(host.GetDomains()) == 0 {
			all = append(all, c.unusable(at, "the virtual host has no domains", "add a domain")...)
		}
		for j, domain := range host.GetDomains() {
			if star := strings.IndexByte(domain, '*'); domain == "" || star >= 0 && (star > 0 && star < len(domain)-1 || strings.Count(domain, "*") > 1) {
				all = append(all, c.unusable(at.Item("domains", j), fmt.Sprintf("%q is not a domain: a * is its first or its last character", domain), "write a name, *.example.com, shop.* or *")...)
			}
		}
	}
	return all
}

func (c Client) unusable(at graph.At, message, help string) []Fault {
	if c.is(Core) {
		return rejected(at, message, "", help)
	}
	return accepted(at, Fails, message, "never uses it", help)
}

// overridesIn returns the configurations of filters in a table that the client reads: not those of members without a weight, nor of routes
// that it drops.
func (c Client) overridesIn(t Table) (all []override) {
	for i, host := range t.Config.GetVirtualHosts() {
		all = append(all, overrides(t.At.Item("virtual_hosts", i), host.GetTypedPerFilterConfig())...)
	}
	eachRoute(t, func(r route) []Fault {
		a := r.route.GetRoute()
		for i, member := range a.GetWeightedClusters().GetClusters() {
			if member.GetWeight().GetValue() > 0 || c.is(Java, Core) {
				all = append(all, overrides(r.at.Field("route", "weighted_clusters").Item("clusters", i), member.GetTypedPerFilterConfig())...)
			}
		}
		if !dropped(t, a) {
			all = append(all, overrides(r.at, r.route.GetTypedPerFilterConfig())...)
		}
		return nil
	})
	return all
}

// dropped reports whether a client drops a route because of the kind of its destination.
func dropped(t Table, a *routev3.RouteAction) bool {
	switch s := a.GetClusterSpecifier().(type) {
	case *routev3.RouteAction_Cluster, *routev3.RouteAction_WeightedClusters:
		return false
	case *routev3.RouteAction_ClusterSpecifierPlugin:
		for _, plugin := range t.Config.GetClusterSpecifierPlugins() {
			if plugin.GetExtension().GetName() == s.ClusterSpecifierPlugin {
				return plugin.GetIsOptional()
			}
		}
		return false
	}
	return a != nil
}
