package graph

import (
	"sort"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph/decode"
)

// Edge is one reference from a resource to a name.
type Edge struct {
	From   *Resource
	Path   *decode.Path          // the field of From that holds the name
	Field  protoreflect.FullName // that field
	Kind   Kind
	Source Source
	Target string
	To     *Resource // nil: dangling; From itself for names that live inside it
	Place  *Place    // the message that holds the field
}

// Build finds all references between the snapshot's resources. Call it once, after the last Add.
func (s *Snapshot) Build() {
	s.byName = map[Kind]map[string][]*Resource{}
	for _, r := range s.Resources {
		names := s.byName[r.Kind]
		if names == nil {
			names = map[string][]*Resource{}
			s.byName[r.Kind] = names
		}
		names[r.Name] = append(names[r.Name], r)
	}
	b := &builder{snapshot: s, declared: map[protoreflect.Message]map[Kind]map[string]bool{}}
	for _, r := range s.Resources {
		r.Walk(b.visit)
	}
	s.Edges = b.edges
}

type builder struct {
	snapshot *Snapshot
	edges    []*Edge
	declared map[protoreflect.Message]map[Kind]map[string]bool // by the message that is the scope
}

func (b *builder) visit(at *Place) {
	for _, fd := range namingFields(at.Message.Descriptor()) {
		if at.Message.Has(fd) {
			b.names(at, fd)
		}
	}
	switch at.Message.Descriptor().FullName() {
	case "envoy.config.cluster.v3.Cluster":
		b.eds(at)
	case "envoy.config.core.v3.ExtensionConfigSource":
		b.ecds(at)
	}
}

func (b *builder) names(at *Place, fd protoreflect.FieldDescriptor) {
	ref := referencesByField[fd.FullName()]
	from := b.source(at, ref.source)
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

// source reads the ConfigSource beside a name.
func (b *builder) source(at *Place, field protoreflect.Name) Source {
	if field == "" {
		return Anywhere
	}
	cs, _ := at.Message.Get(at.Message.Descriptor().Fields().ByName(field)).Message().Interface().(*corev3.ConfigSource)
	return SourceOf(cs, at.Resource.Source)
}

func (b *builder) add(at *Place, ref *reference, from Source, target string, path *decode.Path) {
	if target == "" {
		return
	}
	e := &Edge{From: at.Resource, Path: path, Field: ref.field, Kind: ref.kind, Source: from, Target: target, Place: at}
	if ref.scope == "" {
		e.To = b.snapshot.Find(ref.kind, from, target)
	} else if scope := at.Enclosing(ref.scope); scope != nil && b.declarations(scope)[ref.kind][target] {
		e.To = at.Resource
	}
	b.edges = append(b.edges, e)
}

// eds is the one name that is given by two fields: an EDS cluster without a service_name asks for its own name.
func (b *builder) eds(at *Place) {
	c, ok := at.Message.Interface().(*clusterv3.Cluster)
	if !ok || c.GetType() != clusterv3.Cluster_EDS || c.GetEdsClusterConfig().GetEdsConfig() == nil {
		return
	}
	ref := &reference{field: "envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name", kind: ClusterLoadAssignment}
	target, path := c.GetEdsClusterConfig().GetServiceName(), at.Path.Field("eds_cluster_config").Field("service_name")
	if target == "" {
		target, path = c.GetName(), at.Path.Field("name")
	}
	b.add(at, ref, SourceOf(c.GetEdsClusterConfig().GetEdsConfig(), at.Resource.Source), target, path)
}

// ecds: a filter whose configuration is discovered asks for its own name.
func (b *builder) ecds(at *Place) {
	cs, ok := at.Message.Interface().(*corev3.ExtensionConfigSource)
	if !ok || at.Parent == nil {
		return
	}
	fd := at.Parent.Message.Descriptor().Fields().ByName("name")
	if fd == nil || fd.Kind() != protoreflect.StringKind {
		return
	}
	ref := &reference{field: "envoy.config.core.v3.ExtensionConfigSource.config_source", kind: ExtensionConfig}
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
	scope.Resource.walk(&Place{Resource: scope.Resource, Message: scope.Message}, func(at *Place) {
		fields := at.Message.Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			kind, ok := declarations[fd.FullName()]
			if !ok {
				continue
			}
			if fd.IsMap() {
				for _, key := range sortedKeys(at.Message.Get(fd).Map()) {
					declare(kind, key)
				}
			} else {
				declare(kind, at.Message.Get(fd).String())
			}
		}
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
		if fd := md.Fields().Get(i); referencesByField[fd.FullName()] != nil {
			fields = append(fields, fd)
		}
	}
	naming.Store(md, fields)
	return fields
}
