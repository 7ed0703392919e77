package graph

import (
	"sort"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/internal/fields"
)

// links are what a resource has to do with others, as far as the resource alone says it.
type links struct {
	references    []*Reference // in the order of Walk
	subscriptions []*Subscription
	carries       []named    // names inside it that other resources can refer to
	http          *httpLinks // nil: none
	onDemand      bool       // it may ask for clusters that nothing names
	opaque        bool       // a part of it could not be decoded
}

// links returns the resource's links. They are found once.
func (r *Resource) links() *links {
	r.link(&linking{})
	return r.linked
}

// linking finds the links of one resource after another.
type linking struct {
	walker Walker
	shaper shaper
}

// link finds the links and the shape of a resource. Places that a link refers to are those of all walks from now on.
func (r *Resource) link(by *linking) {
	r.linkOnce.Do(func() {
		l := &linker{links: links{opaque: r.Message == nil || len(r.Problems) > 0}}
		if !r.Fragment { // its names may refer to the message that it is merged into
			by.walker.Walk(r, func(at *Place) {
				by.shaper.see(at.Message.Descriptor())
				l.visit(at)
			})
			r.shape = by.shaper.shape()
		}
		r.linked = l.known()
		if len(l.references) > 0 || l.http != nil {
			r.keep(&by.walker)
		}
	})
}

var noLinks, onlyOpaque = &links{}, &links{opaque: true}

// known returns the links, shared by all resources that have none.
func (l *links) known() *links {
	switch {
	case len(l.references)+len(l.subscriptions)+len(l.carries) > 0 || l.http != nil || l.onDemand:
		kept := *l
		return &kept
	case l.opaque:
		return onlyOpaque
	}
	return noLinks
}

// linker finds the links of one resource.
type linker struct {
	links
	declared map[protoreflect.Message]map[named]bool // by the message that is the scope
}

func (l *linker) visit(at *Place) {
	l.opaque = l.opaque || at.Opaque
	says, in := saysOf(at.Message.Descriptor()), fields.In(at.Message)
	for i := range says.naming {
		naming := &says.naming[i]
		if !in.IsSet(naming) {
			continue
		}
		if fd := naming.FieldDescriptor; filterConfigs[fd.FullName()] {
			l.ofHTTP().configs = append(l.ofHTTP().configs, perFilter{at, fd})
		} else {
			l.names(at, in.Value(naming), fd)
		}
	}
	if says.carrier {
		l.carrier(at)
	}
	if says.more != nil {
		says.more(l, at)
	}
}

// says is what messages of a type can have to do with other resources.
type says struct {
	naming  []fields.Field // that the table of references names
	carrier bool
	more    func(*linker, *Place)
}

var knownSays sync.Map // protoreflect.MessageDescriptor → *says

func saysOf(md protoreflect.MessageDescriptor) *says {
	if known, ok := knownSays.Load(md); ok {
		return known.(*says)
	}
	_, carrier := carriers[md.FullName()]
	made := &says{naming: namingFields(md), carrier: carrier, more: moreOf(md.FullName())}
	knownSays.Store(md, made)
	return made
}

// moreOf returns what finds those links of a message that the table of references cannot say, or nil.
func moreOf(name protoreflect.FullName) func(*linker, *Place) {
	switch name {
	case "envoy.config.cluster.v3.Cluster":
		return (*linker).eds
	case "envoy.config.core.v3.ExtensionConfigSource":
		return (*linker).ecds
	case "google.protobuf.StringValue":
		return (*linker).filterChain
	case "envoy.extensions.filters.http.on_demand.v3.OnDemandCds", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand":
		return func(l *linker, _ *Place) { l.onDemand = true }
	case "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds",
		routeTableName, "envoy.config.endpoint.v3.LedsClusterLocalityConfig":
		return (*linker).subscription
	case hcmName, "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter", "envoy.config.core.v3.TypedExtensionConfig",
		"envoy.config.route.v3.ScopedRouteConfiguration":
		return (*linker).visitHTTP
	}
	return nil
}

func (l *linker) names(at *Place, v protoreflect.Value, fd protoreflect.FieldDescriptor) {
	ref := referencesByField[fd.FullName()]
	from := sourceNextTo(at, ref)
	name := string(fd.Name())
	switch {
	case fd.IsMap():
		for _, key := range sortedKeys(v.Map()) {
			l.add(at, ref, from, key, at.Path.Entry(name, key))
		}
	case fd.IsList():
		for i := range v.List().Len() {
			l.add(at, ref, from, v.List().Get(i).String(), at.Path.Item(name, i))
		}
	default:
		l.add(at, ref, from, v.String(), at.Path.Field(name))
	}
}

func sortedKeys(m protoreflect.Map) []string {
	var keys []string
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k.String())
		return true
	})
	sort.Strings(keys)
	return keys
}

// sourceNextTo reads the ConfigSource next to a name, or around it.
func sourceNextTo(at *Place, ref *reference) Source {
	holder := at
	if ref.around != "" {
		holder = at.Enclosing(ref.around)
	}
	if ref.source == "" || holder == nil {
		return Anywhere
	}
	fd := holder.Message.Descriptor().Fields().ByName(ref.source)
	cs, _ := holder.Message.Get(fd).Message().Interface().(*corev3.ConfigSource)
	return SourceOf(cs, at.Resource.Source)
}

func (l *linker) add(at *Place, ref *reference, from Source, target string, path *Path) {
	if target == "" || ref.kind == DNSCache && at.Parent.isCarrier() {
		return
	}
	to := toResource
	if ref.scope != "" {
		scope := at.Enclosing(ref.scope)
		if scope == nil {
			return // a part that came alone, such as a virtual host over VHDS: the declarations are elsewhere
		}
		to = toNothing
		if l.declarations(scope)[named{ref.kind, target}] {
			to = toItself
		}
	}
	l.references = append(l.references, &Reference{
		From: at.Resource, Path: path, Field: ref.field, Kind: ref.kind, Source: from, Target: target, Place: at, leads: to,
	})
}

// eds adds the one reference whose name comes from two fields: an EDS cluster without a service_name asks for its own name.
func (l *linker) eds(at *Place) {
	c, ok := at.Message.Interface().(*clusterv3.Cluster)
	if !ok || c.GetType() != clusterv3.Cluster_EDS || c.GetEdsClusterConfig().GetEdsConfig() == nil {
		return
	}
	ref := &reference{field: fieldEDS, kind: ClusterLoadAssignment}
	target, path := c.GetEdsClusterConfig().GetServiceName(), at.Path.Field("eds_cluster_config").Field("service_name")
	if target == "" {
		target, path = c.GetName(), at.Path.Field("name")
	}
	l.add(at, ref, SourceOf(c.GetEdsClusterConfig().GetEdsConfig(), at.Resource.Source), target, path)
}

// ecds adds the reference of a filter whose configuration is discovered: it asks for its own name.
func (l *linker) ecds(at *Place) {
	cs, ok := at.Message.Interface().(*corev3.ExtensionConfigSource)
	if !ok || at.Parent == nil {
		return
	}
	fd := at.Parent.Message.Descriptor().Fields().ByName("name")
	if fd == nil || fd.Kind() != protoreflect.StringKind {
		return
	}
	ref := &reference{field: fieldECDS, kind: ExtensionConfig}
	l.add(at, ref, SourceOf(cs.GetConfigSource(), at.Resource.Source), at.Parent.Message.Get(fd).String(), at.Parent.Path.Field("name"))
}

// filterChain adds references to filter chains: the actions of a listener's matcher name them, as google.protobuf.StringValue.
func (l *linker) filterChain(at *Place) {
	listener := at.Enclosing("envoy.config.listener.v3.Listener")
	if listener == nil || at.Enclosing("envoy.config.listener.v3.FilterChain") != nil || !at.below(listener, "filter_chain_matcher") {
		return
	}
	name := at.Message.Get(at.Message.Descriptor().Fields().ByName("value")).String()
	ref := &reference{field: fieldChainMatcher, kind: FilterChain, scope: "envoy.config.listener.v3.Listener"}
	l.add(at, ref, Anywhere, name, at.Path.Field("value"))
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
func (l *linker) carrier(at *Place) {
	c := carriers[at.Message.Descriptor().FullName()]
	fd := at.Message.Descriptor().Fields().ByName(c.by)
	if !at.Message.Has(fd) {
		return
	}
	name := NameOf(at.Message)
	if name == "" {
		name = NameOf(at.Message.Get(fd).Message())
	}
	l.carries = append(l.carries, named{c.kind, name})
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
func (l *linker) subscription(at *Place) {
	switch m := at.Message.Interface().(type) {
	case *hcmv3.ScopedRds:
		path := at.Path.Field(string(fieldScopedRoutes.Name()))
		l.subscribe(&Reference{Path: path, Field: fieldScopedRoutes, Kind: ScopedRouteConfiguration, Place: at, leads: toAll}, "", m.GetScopedRdsConfigSource())
	case *routev3.RouteConfiguration:
		path := at.Path.Field("vhds").Field(string(fieldVirtualHosts.Name()))
		l.subscribe(&Reference{Path: path, Field: fieldVirtualHosts, Kind: VirtualHost, Target: m.GetName(), Place: at, leads: toAllBelow},
			m.GetName(), m.GetVhds().GetConfigSource())
	case *endpointv3.LedsClusterLocalityConfig:
		path, name := at.Path.Field(string(fieldLbEndpoints.Name())), strings.TrimSuffix(m.GetLedsCollectionName(), "/*")
		l.subscribe(&Reference{Path: path, Field: fieldLbEndpoints, Kind: LbEndpoint, Target: name, Place: at, leads: toAllBelow},
			m.GetLedsCollectionName(), m.GetLedsConfig())
	}
}

func (l *linker) subscribe(ref *Reference, name string, cs *corev3.ConfigSource) {
	if cs == nil {
		return
	}
	ref.From = ref.Place.Resource
	ref.Source = SourceOf(cs, ref.From.Source)
	l.references = append(l.references, ref)
	l.subscriptions = append(l.subscriptions, &Subscription{From: ref.From, Kind: ref.Kind, Source: ref.Source, Name: name})
}

// declarations collects the names that are declared below a message.
func (l *linker) declarations(scope *Place) map[named]bool {
	if known, ok := l.declared[scope.Message]; ok {
		return known
	}
	found := map[named]bool{}
	var inside Walker
	inside.from(Place{Resource: scope.Resource, Message: scope.Message})
	inside.places.each(func(at *Place) {
		all := at.Message.Descriptor().Fields()
		for i := range all.Len() {
			fd := all.Get(i)
			kind, ok := declarations[fd.FullName()]
			if !ok {
				continue
			}
			switch value := at.Message.Get(fd); {
			case fd.IsMap():
				for _, key := range sortedKeys(value.Map()) {
					found[named{kind, key}] = true
				}
			case fd.Message() != nil:
				found[named{kind, NameOf(value.Message())}] = true
			default:
				found[named{kind, value.String()}] = true
			}
		}
	})
	if l.declared == nil {
		l.declared = map[protoreflect.Message]map[named]bool{}
	}
	l.declared[scope.Message] = found
	return found
}

// namingFields lists the fields of a message type that the table of references names.
var namingFields = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	return referencesByField[fd.FullName()] != nil || filterConfigs[fd.FullName()]
})
