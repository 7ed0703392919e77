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

// httpFilters records which HTTP filters the per-filter configurations of a route table can refer to.
type httpFilters struct {
	managers []*manager
	byPlace  map[*Place]*manager
	byTable  map[string][]*manager // by the route table's name, from RDS or a scope
	upstream map[string]*Resource  // filters of clusters, which read the route's configurations too
	scoped   []*manager            // with scopes over SRDS: they may use any table that a scope names
	scopes   map[string]bool       // tables that SRDS resources name
	configs  []perFilter
}

// manager is one HTTP connection manager.
type manager struct {
	place *Place
	names map[string]bool // of its filters
}

type perFilter struct {
	at *Place
	fd protoreflect.FieldDescriptor
}

func newHTTPFilters() *httpFilters {
	return &httpFilters{byPlace: map[*Place]*manager{}, byTable: map[string][]*manager{}, upstream: map[string]*Resource{}, scopes: map[string]bool{}}
}

// visit records managers, the names of filters, and the tables that managers use.
func (h *httpFilters) visit(at *Place) {
	switch at.Message.Descriptor().FullName() {
	case hcmName:
		if m, ok := at.Message.Interface().(*hcmv3.HttpConnectionManager); ok {
			h.manager(at, m)
		}
	case "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter":
		if f, ok := at.Message.Interface().(*hcmv3.HttpFilter); ok {
			h.filter(at, f.GetName())
		}
	case "envoy.config.core.v3.TypedExtensionConfig":
		// Composite and match delegate filters hold the filters that they run in these.
		if f, ok := at.Message.Interface().(*corev3.TypedExtensionConfig); ok && at.Parent != nil {
			h.filter(at, f.GetName())
		}
	case "envoy.config.route.v3.ScopedRouteConfiguration":
		if s, ok := at.Message.Interface().(*routev3.ScopedRouteConfiguration); ok {
			h.scope(at, s.GetRouteConfigurationName())
		}
	}
}

func (h *httpFilters) manager(at *Place, m *hcmv3.HttpConnectionManager) {
	found := &manager{place: at, names: map[string]bool{}}
	h.managers = append(h.managers, found)
	h.byPlace[at] = found
	if name := m.GetRds().GetRouteConfigName(); name != "" {
		h.byTable[name] = append(h.byTable[name], found)
	}
	if m.GetScopedRoutes().GetScopedRds() != nil {
		h.scoped = append(h.scoped, found)
	}
}

func (h *httpFilters) filter(at *Place, name string) {
	if m := h.byPlace[at.Enclosing(hcmName)]; m != nil {
		m.names[name] = true
	} else if at.Resource.Kind == Cluster && h.upstream[name] == nil {
		h.upstream[name] = at.Resource
	}
}

func (h *httpFilters) scope(at *Place, table string) {
	if at.Parent == nil {
		h.scopes[table] = true
	} else if m := h.byPlace[at.Enclosing(hcmName)]; m != nil && table != "" {
		h.byTable[table] = append(h.byTable[table], m)
	}
}

// users returns the managers that use the route table around a place.
func (h *httpFilters) users(at *Place) []*manager {
	if m := h.byPlace[at.Enclosing(hcmName)]; m != nil {
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

// edges adds one edge for each key. If no manager uses the table, there is nothing to refer to.
func (h *httpFilters) edges() []*Edge {
	var edges []*Edge
	for _, c := range h.configs {
		users := h.users(c.at)
		if len(users) == 0 {
			continue
		}
		for _, key := range sortedKeys(c.at.Message.Get(c.fd).Map()) {
			e := &Edge{
				From: c.at.Resource, Path: c.at.Path.Entry(string(c.fd.Name()), key), Field: c.fd.FullName(),
				Kind: HTTPFilter, Target: key, To: h.upstream[key], Place: c.at,
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
