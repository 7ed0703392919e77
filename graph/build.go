package graph

import (
	"context"
	"sort"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/internal/parallel"
)

// Edge is one reference from a resource to a name.
type Edge struct {
	From   *Resource
	Path   *Path                 // the field of From that holds the name
	Field  protoreflect.FullName // that field
	Kind   Kind
	Source Source
	Target string
	To     *Resource // nil: dangling; From itself for names that live inside it
	Place  *Place    // the message that holds the field
}

// Subscription asks a source for resources without naming them. Each resource that exists is also the target of an Edge.
type Subscription struct {
	From   *Resource
	Kind   Kind
	Source Source
	Name   string // VHDS: of the route configuration; LEDS: of the collection; SRDS, which asks for all: empty
}

// Build finds all references between the snapshot's resources. Call it once, after the last Add.
func (s *Snapshot) Build() {
	s.byName, s.byKind = map[Kind]map[string][]*Resource{}, map[Kind][]*Resource{}
	for _, r := range s.Resources {
		if r.Kind == Bootstrap && s.bootstrap == nil {
			s.bootstrap = r
		}
		names := s.byName[r.Kind]
		if names == nil {
			names = map[string][]*Resource{}
			s.byName[r.Kind] = names
		}
		names[r.Name] = append(names[r.Name], r)
		s.byKind[r.Kind] = append(s.byKind[r.Kind], r)
		if r.Message != nil {
			s.decoded = append(s.decoded, r)
		}
	}
	b := &builder{
		snapshot: s,
		declared: map[protoreflect.Message]map[Kind]map[string]bool{},
		carried:  map[Kind]map[string]*Resource{},
		filters:  newHTTPFilters(),
	}
	openAll(s.Resources)
	for _, r := range s.Resources {
		if !r.Fragment { // its names may refer to the message that it is merged into
			r.Walk(b.visit)
		}
	}
	for _, e := range b.edges { // carriers may come after the references to them
		if names := b.carried[e.Kind]; names != nil {
			e.To = names[e.Target]
		}
	}
	s.Edges, s.filters = append(b.edges, b.filters.edges()...), b.filters
	s.edgesByKind = map[Kind][]*Edge{}
	for _, e := range s.Edges {
		s.edgesByKind[e.Kind] = append(s.edgesByKind[e.Kind], e)
	}
	s.uses = newUses(s)
}

// openAll lists the places in each resource, several resources at a time; walking them afterwards is quick.
func openAll(resources []*Resource) {
	parallel.Each(context.Background(), len(resources), func() func(int) {
		return func(i int) { resources[i].Walk(func(*Place) {}) }
	})
}

type builder struct {
	snapshot *Snapshot
	edges    []*Edge
	declared map[protoreflect.Message]map[Kind]map[string]bool // by the message that is the scope
	carried  map[Kind]map[string]*Resource
	filters  *httpFilters
	children map[Kind]map[string][]*Resource // by the part of the name before its last slash
}

func (b *builder) visit(at *Place) {
	for _, fd := range namingFields(at.Message.Descriptor()) {
		if !at.Message.Has(fd) {
			continue
		}
		if filterConfigs[fd.FullName()] {
			b.filters.configs = append(b.filters.configs, perFilter{at, fd})
		} else {
			b.names(at, fd)
		}
	}
	b.filters.visit(at)
	b.carrier(at)
	switch at.Message.Descriptor().FullName() {
	case "envoy.config.cluster.v3.Cluster":
		b.eds(at)
	case "envoy.config.core.v3.ExtensionConfigSource":
		b.ecds(at)
	case "google.protobuf.StringValue":
		b.filterChain(at)
	case "envoy.extensions.filters.http.on_demand.v3.OnDemandCds", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand":
		b.snapshot.onDemand = true
	case "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds",
		"envoy.config.route.v3.RouteConfiguration", "envoy.config.endpoint.v3.LedsClusterLocalityConfig":
		b.subscription(at)
	}
}

func (b *builder) names(at *Place, fd protoreflect.FieldDescriptor) {
	ref := referencesByField[fd.FullName()]
	from := b.source(at, ref)
	name := string(fd.Name())
	switch v := at.Message.Get(fd); {
	case fd.IsMap():
		for _, key := range sortedKeys(v.Map()) {
			b.add(at, ref, from, key, at.Path.Entry(name, key))
		}
	case fd.IsList():
		for i := range v.List().Len() {
			b.add(at, ref, from, v.List().Get(i).String(), at.Path.Item(name, i))
		}
	default:
		b.add(at, ref, from, v.String(), at.Path.Field(name))
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

// source reads the ConfigSource next to a name, or around it.
func (b *builder) source(at *Place, ref *reference) Source {
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

func (b *builder) add(at *Place, ref *reference, from Source, target string, path *Path) {
	if target == "" || ref.kind == DNSCache && at.Parent.isCarrier() {
		return
	}
	e := &Edge{From: at.Resource, Path: path, Field: ref.field, Kind: ref.kind, Source: from, Target: target, Place: at}
	if ref.scope == "" {
		e.To = b.snapshot.Find(ref.kind, from, target)
	} else if scope := at.Enclosing(ref.scope); scope == nil {
		return // a part that came alone, such as a virtual host over VHDS: the declarations are elsewhere
	} else if b.declarations(scope)[ref.kind][target] {
		e.To = at.Resource
	}
	b.edges = append(b.edges, e)
}

// eds adds the one reference whose name comes from two fields: an EDS cluster without a service_name asks for its own name.
func (b *builder) eds(at *Place) {
	c, ok := at.Message.Interface().(*clusterv3.Cluster)
	if !ok || c.GetType() != clusterv3.Cluster_EDS || c.GetEdsClusterConfig().GetEdsConfig() == nil {
		return
	}
	ref := &reference{field: fieldEDS, kind: ClusterLoadAssignment}
	target, path := c.GetEdsClusterConfig().GetServiceName(), at.Path.Field("eds_cluster_config").Field("service_name")
	if target == "" {
		target, path = c.GetName(), at.Path.Field("name")
	}
	b.add(at, ref, SourceOf(c.GetEdsClusterConfig().GetEdsConfig(), at.Resource.Source), target, path)
}

// ecds adds the reference of a filter whose configuration is discovered: it asks for its own name.
func (b *builder) ecds(at *Place) {
	cs, ok := at.Message.Interface().(*corev3.ExtensionConfigSource)
	if !ok || at.Parent == nil {
		return
	}
	fd := at.Parent.Message.Descriptor().Fields().ByName("name")
	if fd == nil || fd.Kind() != protoreflect.StringKind {
		return
	}
	ref := &reference{field: fieldECDS, kind: ExtensionConfig}
	b.add(at, ref, SourceOf(cs.GetConfigSource(), at.Resource.Source), at.Parent.Message.Get(fd).String(), at.Parent.Path.Field("name"))
}

// declarations collects the names that are declared below a message.
func (b *builder) declarations(scope *Place) map[Kind]map[string]bool {
	if known, ok := b.declared[scope.Message]; ok {
		return known
	}
	found := map[Kind]map[string]bool{}
	declare := func(kind Kind, name string) {
		if found[kind] == nil {
			found[kind] = map[string]bool{}
		}
		found[kind][name] = true
	}
	scope.Resource.walk(Place{Resource: scope.Resource, Message: scope.Message}, func(at Place) *Place {
		fields := at.Message.Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			kind, ok := declarations[fd.FullName()]
			if !ok {
				continue
			}
			switch value := at.Message.Get(fd); {
			case fd.IsMap():
				for _, key := range sortedKeys(value.Map()) {
					declare(kind, key)
				}
			case fd.Message() != nil:
				declare(kind, NameOf(value.Message()))
			default:
				declare(kind, value.String())
			}
		}
		return &at
	})
	b.declared[scope.Message] = found
	return found
}

var naming sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// namingFields lists the fields of a message type that the table of references names.
func namingFields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := naming.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range md.Fields().Len() {
		if fd := md.Fields().Get(i); referencesByField[fd.FullName()] != nil || filterConfigs[fd.FullName()] {
			fields = append(fields, fd)
		}
	}
	naming.Store(md, fields)
	return fields
}
