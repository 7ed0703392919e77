package diff

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

// tables adds the route tables of a connection manager, wherever they are.
func (s *side) tables(w Where, h held, m *hcmv3.HttpConnectionManager) {
	switch {
	case m.GetRds() != nil:
		s.discoveredTable(w, graph.SourceOf(m.GetRds().GetConfigSource(), h.in.Source), m.GetRds().GetRouteConfigName())
	case m.GetScopedRoutes() != nil:
		s.scopes(w, h, m.GetScopedRoutes())
	default:
		s.add(&fact{where: w, what: "routes"})
		s.table(w, h, m.GetRouteConfig())
	}
}

func (s *side) discoveredTable(w Where, from graph.Source, name string) {
	r := s.find(graph.RouteConfiguration, from, name)
	if r == nil {
		s.add(&fact{where: w, what: "routes", value: "route configuration " + name + ", which is not given", unknown: true})
		return
	}
	s.add(&fact{where: w, what: "routes"})
	m, _ := r.Message.(*routev3.RouteConfiguration)
	s.table(w, held{r, m}, m)
}

func (s *side) scopes(w Where, h held, m *hcmv3.ScopedRoutes) {
	tables := graph.SourceOf(m.GetRdsConfigSource(), h.in.Source)
	for _, one := range m.GetScopedRouteConfigurationsList().GetScopedRouteConfigurations() {
		s.scope(w, h, one, tables)
	}
	if m.GetScopedRds() == nil {
		return
	}
	from := graph.SourceOf(m.GetScopedRds().GetScopedRdsConfigSource(), h.in.Source)
	given := false
	for _, e := range s.snapshot.From(h.in) {
		if e.Kind != graph.ScopedRouteConfiguration || e.Source != from || e.To == nil {
			continue
		}
		given = true
		s.note(e.To)
		if one, ok := e.To.Message.(*routev3.ScopedRouteConfiguration); ok {
			s.scope(w, held{e.To, one}, one, tables)
		}
	}
	if !given {
		s.add(&fact{where: w, what: "routes", value: "scoped route configurations, of which none is given", unknown: true})
	}
}

func (s *side) scope(w Where, h held, m *routev3.ScopedRouteConfiguration, tables graph.Source) {
	var parts []string
	for _, f := range m.GetKey().GetFragments() {
		parts = append(parts, f.GetStringKey())
	}
	if w.Scope = strings.Join(parts, ", "); w.Scope == "" {
		w.Scope = "(empty)"
	}
	s.add(&fact{where: w, what: "scope", value: w.Scope, exists: true})
	s.add(&fact{where: w, what: "scope settings", message: h.with(m), part: true, skip: fields{
		"envoy.config.route.v3.ScopedRouteConfiguration.name":                     true,
		"envoy.config.route.v3.ScopedRouteConfiguration.key":                      true,
		"envoy.config.route.v3.ScopedRouteConfiguration.route_configuration_name": true,
		"envoy.config.route.v3.ScopedRouteConfiguration.route_configuration":      true,
	}})
	if m.GetRouteConfiguration() != nil {
		s.add(&fact{where: w, what: "routes"})
		s.table(w, h, m.GetRouteConfiguration())
		return
	}
	s.discoveredTable(w, tables, m.GetRouteConfigurationName())
}

func (s *side) table(w Where, h held, m *routev3.RouteConfiguration) {
	s.add(&fact{where: w, what: "all routes", message: h.with(m), part: true, skip: fields{
		"envoy.config.route.v3.RouteConfiguration.name": true, "envoy.config.route.v3.RouteConfiguration.virtual_hosts": true,
		"envoy.config.route.v3.RouteConfiguration.vhds": true, "envoy.config.route.v3.RouteConfiguration.request_mirror_policies": true,
		"envoy.config.route.v3.RouteConfiguration.typed_per_filter_config": true,
		// It only decides what Envoy rejects.
		"envoy.config.route.v3.RouteConfiguration.validate_clusters": true,
	}})
	s.perFilter(w, h, "all routes: ", m.GetTypedPerFilterConfig())
	for i, host := range m.GetVirtualHosts() {
		s.host(w, h, m, host, fmt.Sprintf("virtual_hosts[%d].", i))
	}
	discovered := &fact{where: w, what: "virtual hosts"}
	s.add(discovered)
	if m.GetVhds() == nil {
		return
	}
	discovered.unknown, discovered.exact = true, "VHDS"
	for _, e := range s.snapshot.From(h.in) {
		if e.Kind != graph.VirtualHost || e.To == nil || e.Place == nil || e.Place.Message.Interface() != any(m) {
			continue
		}
		s.note(e.To)
		if host, ok := e.To.Message.(*routev3.VirtualHost); ok {
			discovered.unknown, discovered.exact = false, ""
			s.host(w, held{e.To, host}, m, host, "")
		}
	}
}

// perFilter adds the settings for HTTP filters in a part of a route table.
func (s *side) perFilter(w Where, h held, of string, all map[string]*anypb.Any) {
	for _, name := range keys(all) {
		s.add(&fact{where: w, what: of + "override of HTTP filter " + short(name), value: Set, exact: name, message: h.with(all[name])})
	}
}

// host adds a virtual host under each of its domains. Path is its path in the resource.
func (s *side) host(w Where, h held, table *routev3.RouteConfiguration, m *routev3.VirtualHost, path string) {
	for _, domain := range m.GetDomains() {
		at, name := w, strings.ToLower(domain)
		at.Host = name
		at = s.free(at, &name, "host")
		at.Host = name
		s.add(&fact{where: at, what: "host", value: name, exists: true})
		s.add(&fact{where: at, what: "all routes", message: h.with(m), part: true, skip: fields{
			"envoy.config.route.v3.VirtualHost.name": true, "envoy.config.route.v3.VirtualHost.domains": true,
			"envoy.config.route.v3.VirtualHost.routes": true, "envoy.config.route.v3.VirtualHost.retry_policy": true,
			"envoy.config.route.v3.VirtualHost.request_mirror_policies": true, "envoy.config.route.v3.VirtualHost.typed_per_filter_config": true,
		}})
		s.perFilter(at, h, "all routes: ", m.GetTypedPerFilterConfig())
		inherited := inherited{retries: m.GetRetryPolicy(), mirrors: m.GetRequestMirrorPolicies()}
		if len(inherited.mirrors) == 0 {
			inherited.mirrors = table.GetRequestMirrorPolicies()
		}
		var order []ordered
		for _, r := range s.routesOf(h.in, m) {
			one := ordered{name: s.route(at, h, r, inherited, path), takes: r.takes}
			if r.shadow != nil && r.shadow.by != nil {
				one.by = order[r.shadow.at].name
			}
			order = append(order, one)
		}
		s.orders[at] = order
	}
}

// inherited is what a route inherits unless it sets the value itself.
type inherited struct {
	retries *routev3.RetryPolicy
	mirrors []*routev3.RouteAction_RequestMirrorPolicy
}
