package graph

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

const (
	hcmName        protoreflect.FullName = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	routeTableName protoreflect.FullName = "envoy.config.route.v3.RouteConfiguration"
)

// httpLinks is what a resource says about HTTP filters and about the route tables that they are configured in.
type httpLinks struct {
	managers []*manager
	upstream []string    // filters of a cluster, which read the route's configurations too
	scopes   []string    // tables that an SRDS resource names
	configs  []perFilter // per-filter configurations
}

// manager is one HTTP connection manager.
type manager struct {
	place  *Place
	names  map[string]bool // of its filters
	tables []string        // that it uses, from RDS or its own scopes
	scoped bool            // with scopes over SRDS: it may use any table that a scope names
}

type perFilter struct {
	at *Place
	fd protoreflect.FieldDescriptor
}

func (l *links) ofHTTP() *httpLinks {
	if l.http == nil {
		l.http = &httpLinks{}
	}
	return l.http
}

// manager returns the manager around a place, or nil.
func (h *httpLinks) manager(at *Place) *manager {
	if h == nil {
		return nil
	}
	if place := at.Enclosing(hcmName); place != nil {
		for _, m := range h.managers {
			if m.place == place {
				return m
			}
		}
	}
	return nil
}

// visitHTTP records managers, the names of filters, and the tables that managers use.
func (l *linker) visitHTTP(at *Place) {
	switch at.Message.Descriptor().FullName() {
	case hcmName:
		if m, ok := at.Message.Interface().(*hcmv3.HttpConnectionManager); ok {
			found := &manager{place: at, names: map[string]bool{}, scoped: m.GetScopedRoutes().GetScopedRds() != nil}
			if name := m.GetRds().GetRouteConfigName(); name != "" {
				found.tables = append(found.tables, name)
			}
			l.ofHTTP().managers = append(l.http.managers, found)
		}
	case "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter":
		if f, ok := at.Message.Interface().(*hcmv3.HttpFilter); ok {
			l.filter(at, f.GetName())
		}
	case "envoy.config.core.v3.TypedExtensionConfig":
		// Composite and match delegate filters hold the filters that they run in these.
		if f, ok := at.Message.Interface().(*corev3.TypedExtensionConfig); ok && at.Parent != nil {
			l.filter(at, f.GetName())
		}
	case "envoy.config.route.v3.ScopedRouteConfiguration":
		if s, ok := at.Message.Interface().(*routev3.ScopedRouteConfiguration); ok {
			l.scope(at, s.GetRouteConfigurationName())
		}
	}
}

func (l *linker) filter(at *Place, name string) {
	if m := l.http.manager(at); m != nil {
		m.names[name] = true
	} else if at.Resource.Kind == Cluster {
		l.ofHTTP().upstream = append(l.http.upstream, name)
	}
}

func (l *linker) scope(at *Place, table string) {
	if at.Parent == nil {
		l.ofHTTP().scopes = append(l.http.scopes, table)
	} else if m := l.http.manager(at); m != nil && table != "" {
		m.tables = append(m.tables, table)
	}
}

// httpFilters knows which HTTP filters the per-filter configurations of a route table can refer to.
type httpFilters struct {
	managers []*manager
	byTable  map[string][]*manager
	upstream map[string]*Resource
	scoped   []*manager
	scopes   map[string]bool
	edges    map[*Resource][]*Edge // of kind HTTPFilter
}

func newHTTPFilters(resources []*Resource) *httpFilters {
	h := &httpFilters{byTable: map[string][]*manager{}, upstream: map[string]*Resource{}, scopes: map[string]bool{}, edges: map[*Resource][]*Edge{}}
	for _, r := range resources {
		if says := r.links().http; says != nil {
			h.add(r, says)
		}
	}
	for _, r := range resources {
		if says := r.links().http; says != nil && len(says.configs) > 0 {
			h.edges[r] = h.edgesOf(r, says)
		}
	}
	return h
}

func (h *httpFilters) add(r *Resource, says *httpLinks) {
	h.managers = append(h.managers, says.managers...)
	for _, m := range says.managers {
		for _, table := range m.tables {
			h.byTable[table] = append(h.byTable[table], m)
		}
		if m.scoped {
			h.scoped = append(h.scoped, m)
		}
	}
	for _, name := range says.upstream {
		if h.upstream[name] == nil {
			h.upstream[name] = r
		}
	}
	for _, table := range says.scopes {
		h.scopes[table] = true
	}
}

// users returns the managers that use the route table around a place.
func (h *httpFilters) users(at *Place) []*manager {
	if m := at.Resource.links().http.manager(at); m != nil {
		return []*manager{m}
	}
	table := at.Enclosing(routeTableName)
	if table == nil { // a virtual host from VHDS
		return h.managers
	}
	name := NameOf(table.Message)
	users := h.byTable[name]
	if h.scopes[name] {
		users = append(users[:len(users):len(users)], h.scoped...)
	}
	return users
}

// edgesOf returns one edge for each key. If no manager uses the table, there is nothing to refer to.
func (h *httpFilters) edgesOf(r *Resource, says *httpLinks) []*Edge {
	var edges []*Edge
	for _, c := range says.configs {
		users := h.users(c.at)
		if len(users) == 0 {
			continue
		}
		for _, key := range sortedKeys(c.at.Message.Get(c.fd).Map()) {
			e := &Edge{
				Reference: &Reference{
					From: r, Path: c.at.Path.Entry(string(c.fd.Name()), key), Field: c.fd.FullName(), Kind: HTTPFilter, Target: key, Place: c.at,
				},
				To: h.upstream[key],
			}
			for _, m := range users {
				if m.names[key] {
					e.To = m.place.Resource
					break
				}
			}
			edges = append(edges, e)
		}
	}
	return edges
}

// FilterChoices returns the managers whose filters the key of an edge of kind HTTPFilter can refer to.
func (s *Snapshot) FilterChoices(e *Edge) []*Place {
	var places []*Place
	for _, m := range s.filters.users(e.Place) {
		places = append(places, m.place)
	}
	return places
}
