package graph

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

// filterChain adds references to filter chains: the actions of a listener's matcher name them, as google.protobuf.StringValue.
func (b *builder) filterChain(at *Place) {
	listener := at.Enclosing("envoy.config.listener.v3.Listener")
	if listener == nil || at.Enclosing("envoy.config.listener.v3.FilterChain") != nil || !at.below(listener, "filter_chain_matcher") {
		return
	}
	name := at.Message.Get(at.Message.Descriptor().Fields().ByName("value")).String()
	ref := &reference{field: fieldChainMatcher, kind: FilterChain, scope: "envoy.config.listener.v3.Listener"}
	b.add(at, ref, Anywhere, name, at.Path.Field("value"))
}

// below reports whether the place is inside one field of a message around it.
func (p *Place) below(around *Place, field string) bool {
	for path := p.Path; path != nil; path = path.Parent() {
		if path.Parent() == around.Path {
			return path.Name() == field
		}
	}
	return false
}

// carrier records a message whose name other resources can refer to.
func (b *builder) carrier(at *Place) {
	c, ok := carriers[at.Message.Descriptor().FullName()]
	if !ok {
		return
	}
	fd := at.Message.Descriptor().Fields().ByName(c.by)
	if !at.Message.Has(fd) {
		return
	}
	name := NameOf(at.Message)
	if name == "" {
		name = NameOf(at.Message.Get(fd).Message())
	}
	if b.carried[c.kind] == nil {
		b.carried[c.kind] = map[string]*Resource{}
	}
	if b.carried[c.kind][name] == nil {
		b.carried[c.kind][name] = at.Resource
	}
}

// isCarrier reports whether a message declares a name, instead of referring to one.
func (p *Place) isCarrier() bool {
	if p == nil {
		return false
	}
	_, ok := carriers[p.Message.Descriptor().FullName()]
	return ok
}

// subscription records SRDS, VHDS and LEDS, which do not name resources: they get all that the source has, or all below a name.
func (b *builder) subscription(at *Place) {
	switch m := at.Message.Interface().(type) {
	case *hcmv3.ScopedRds:
		from := SourceOf(m.GetScopedRdsConfigSource(), at.Resource.Source)
		b.subscribe(at, fieldScopedRoutes, ScopedRouteConfiguration, "", m.GetScopedRdsConfigSource(), b.snapshot.from(ScopedRouteConfiguration, from))
	case *routev3.RouteConfiguration:
		b.subscribe(at, fieldVirtualHosts, VirtualHost, m.GetName(), m.GetVhds().GetConfigSource(), b.below(VirtualHost, m.GetName()))
	case *endpointv3.LedsClusterLocalityConfig:
		name := strings.TrimSuffix(m.GetLedsCollectionName(), "/*")
		b.subscribe(at, fieldLbEndpoints, LbEndpoint, m.GetLedsCollectionName(), m.GetLedsConfig(), b.below(LbEndpoint, name))
	}
}

func (b *builder) subscribe(at *Place, field protoreflect.FullName, kind Kind, name string, cs *corev3.ConfigSource, to []*Resource) {
	if cs == nil {
		return
	}
	path := at.Path.Field(string(field.Name()))
	if kind == VirtualHost {
		path = at.Path.Field("vhds").Field(string(field.Name()))
	}
	from := SourceOf(cs, at.Resource.Source)
	b.snapshot.Subscriptions = append(b.snapshot.Subscriptions, &Subscription{From: at.Resource, Kind: kind, Source: from, Name: name})
	for _, r := range to {
		b.edges = append(b.edges, &Edge{From: at.Resource, Path: path, Field: field, Kind: kind, Source: from, Target: r.Name, To: r, Place: at})
	}
}

// from returns the resources of a kind that a source serves, and those whose source is not known.
func (s *Snapshot) from(kind Kind, from Source) []*Resource {
	var all []*Resource
	for _, r := range s.Resources {
		if r.Kind == kind && r.State != Failed && (from == Anywhere || r.Source == from || r.Source == Anywhere) {
			all = append(all, r)
		}
	}
	return all
}

// below returns the resources of a kind whose names continue a name after a slash.
func (b *builder) below(kind Kind, name string) []*Resource {
	if b.children == nil {
		b.children = map[Kind]map[string][]*Resource{VirtualHost: {}, LbEndpoint: {}}
		for _, r := range b.snapshot.Resources {
			if names := b.children[r.Kind]; names != nil {
				if i := strings.LastIndexByte(r.Name, '/'); i >= 0 {
					names[r.Name[:i]] = append(names[r.Name[:i]], r)
				}
			}
		}
	}
	return b.children[kind][name]
}
