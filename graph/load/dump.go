package load

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// slot is a list of a config_dump, and the path in its elements to a resource in an Any.
type slot struct {
	list   protoreflect.Name // of the section
	body   []protoreflect.Name
	state  graph.State
	source graph.Source
}

// section is a part of a config_dump: all resources of one kind.
type section struct {
	kind  graph.Kind
	slots []slot
	item  map[protoreflect.Name]protoreflect.Name // type of an element → its list: `?resource=` returns elements without their section
}

var sections = map[protoreflect.FullName]section{
	adminPackage + "ListenersConfigDump": {kind: graph.Listener, slots: []slot{
		{list: "static_listeners", body: names("listener"), source: graph.Static},
		{list: "dynamic_listeners", body: names("active_state", "listener"), state: graph.Active},
		{list: "dynamic_listeners", body: names("warming_state", "listener"), state: graph.Warming},
		{list: "dynamic_listeners", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("StaticListener", "static_listeners", "DynamicListener", "dynamic_listeners")},
	adminPackage + "ClustersConfigDump": {kind: graph.Cluster, slots: []slot{
		{list: "static_clusters", body: names("cluster"), source: graph.Static},
		{list: "dynamic_active_clusters", body: names("cluster"), state: graph.Active},
		{list: "dynamic_warming_clusters", body: names("cluster"), state: graph.Warming},
		{list: "dynamic_active_clusters", body: names("error_state", "failed_configuration"), state: graph.Failed},
		{list: "dynamic_warming_clusters", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("StaticCluster", "static_clusters", "DynamicCluster", "dynamic_active_clusters")},
	adminPackage + "RoutesConfigDump": {kind: graph.RouteConfiguration, slots: []slot{
		{list: "static_route_configs", body: names("route_config"), source: graph.Static},
		{list: "dynamic_route_configs", body: names("route_config"), state: graph.Active},
		{list: "dynamic_route_configs", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("StaticRouteConfig", "static_route_configs", "DynamicRouteConfig", "dynamic_route_configs")},
	adminPackage + "ScopedRoutesConfigDump": {kind: graph.ScopedRouteConfiguration, slots: []slot{
		{list: "inline_scoped_route_configs", body: names("scoped_route_configs"), source: graph.Static},
		{list: "dynamic_scoped_route_configs", body: names("scoped_route_configs"), state: graph.Active},
		{list: "dynamic_scoped_route_configs", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("InlineScopedRouteConfigs", "inline_scoped_route_configs", "DynamicScopedRouteConfigs", "dynamic_scoped_route_configs")},
	adminPackage + "EndpointsConfigDump": {kind: graph.ClusterLoadAssignment, slots: []slot{
		{list: "static_endpoint_configs", body: names("endpoint_config"), source: graph.Static},
		{list: "dynamic_endpoint_configs", body: names("endpoint_config"), state: graph.Active},
		{list: "dynamic_endpoint_configs", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("StaticEndpointConfig", "static_endpoint_configs", "DynamicEndpointConfig", "dynamic_endpoint_configs")},
	adminPackage + "SecretsConfigDump": {kind: graph.Secret, slots: []slot{
		{list: "static_secrets", body: names("secret"), source: graph.Static},
		{list: "dynamic_active_secrets", body: names("secret"), state: graph.Active},
		{list: "dynamic_warming_secrets", body: names("secret"), state: graph.Warming},
		{list: "dynamic_active_secrets", body: names("error_state", "failed_configuration"), state: graph.Failed},
		{list: "dynamic_warming_secrets", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("StaticSecret", "static_secrets", "DynamicSecret", "dynamic_active_secrets")},
	adminPackage + "EcdsConfigDump": {kind: graph.ExtensionConfig, slots: []slot{
		{list: "ecds_filters", body: names("ecds_filter"), state: graph.Active},
		{list: "ecds_filters", body: names("error_state", "failed_configuration"), state: graph.Failed},
	}, item: items("EcdsFilterConfig", "ecds_filters")},
}

const bootstrapDump = adminPackage + "BootstrapConfigDump"

// ofDump reports whether a type is that of a section, or of an element of one.
func ofDump(name protoreflect.FullName) bool {
	if _, section := sections[name]; section {
		return true
	}
	_, element := sections[name.Parent()]
	return element
}

func names(path ...protoreflect.Name) []protoreflect.Name { return path }

func items(pairs ...protoreflect.Name) map[protoreflect.Name]protoreflect.Name {
	m := map[protoreflect.Name]protoreflect.Name{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// dumped returns the snapshot of a config_dump.
func (l *loader) dumped(in *input) (*graph.Snapshot, error) {
	a := l.assemble(in.file.Name)
	d := dump{assembly: a, in: in, has: map[graph.Kind]bool{}}
	d.read()
	a.broken(in, graph.Anywhere)
	if err := a.decode(0); err != nil {
		return nil, err
	}
	for _, p := range a.parts {
		unweigh(p.resource)
		forget(p.resource)
	}
	all := len(a.parts)
	a.parts = slices.DeleteFunc(a.parts, nameless)
	for kind := range d.has {
		if kind != graph.ClusterLoadAssignment || len(a.parts) == all {
			a.snapshot.Complete(kind, graph.Anywhere)
		}
	}
	return a.finish(), nil
}

// nameless reports whether a part is a load assignment without the name of its cluster. Old Envoys write those of EDS
// clusters without a service_name so.
func nameless(p *part) bool {
	return p.resource.Kind == graph.ClusterLoadAssignment && p.resource.Name == ""
}

// forget removes the problems with fields that Envoy itself added to v3 for values of v2.
func forget(r *graph.Resource) {
	r.Problems = slices.DeleteFunc(r.Problems, func(p graph.Problem) bool {
		return p.Kind == graph.UnknownField && strings.HasPrefix(p.Name, "hidden_envoy_deprecated_")
	})
}

// unweigh removes the weight 0 that Envoy writes for each locality without a weight, and would itself reject.
func unweigh(r *graph.Resource) {
	m, _ := r.Message.(*endpointv3.ClusterLoadAssignment)
	for _, l := range m.GetEndpoints() {
		if l.GetLoadBalancingWeight().GetValue() == 0 {
			l.LoadBalancingWeight = nil
		}
	}
}

type dump struct {
	*assembly
	in  *input
	has map[graph.Kind]bool
}

// read adds the resources of all sections. The inline parts of listeners and clusters appear in other sections again,
// and the static resources in the bootstrap's section.
func (d *dump) read() {
	views := d.views()
	for _, v := range views {
		if s, ok := sections[v.name]; ok {
			d.has[s.kind] = true
		}
	}
	for _, v := range views {
		switch s, ok := sections[v.name]; {
		case ok:
			for _, slot := range s.slots {
				if slot.source == graph.Static && d.inline(s.kind) {
					continue
				}
				for _, element := range v.at(slot.list) {
					d.slot(element, slot)
				}
			}
		case v.name == bootstrapDump:
			for _, b := range v.at("bootstrap") {
				d.boot(b)
			}
		default:
			d.element(v)
		}
	}
}

// inline returns the kinds whose static resources are also inside other resources of the dump.
func (d *dump) inline(kind graph.Kind) bool {
	switch kind {
	case graph.RouteConfiguration, graph.ScopedRouteConfiguration:
		return d.has[graph.Listener]
	case graph.ClusterLoadAssignment:
		return d.has[graph.Cluster]
	}
	return false
}

// element adds the resources of an element without its section.
func (d *dump) element(v view) {
	s, ok := sections[v.name.Parent()]
	if !ok {
		return
	}
	for _, slot := range s.slots {
		if slot.list == s.item[v.name.Name()] {
			d.slot(v, slot)
		}
	}
}

func (d *dump) slot(v view, s slot) {
	if v.text("version_info") == "uninitialized" { // a secret that Envoy waits for: it has only a name
		return
	}
	from := origin{in: d.in, source: s.source, state: s.state}
	bodies := []view{v}
	for _, name := range s.body {
		var inner []view
		for _, b := range bodies {
			if version := b.text("version_info"); version != "" {
				from.version = version
			}
			inner = append(inner, b.at(name)...)
		}
		bodies = inner
	}
	if s.source == graph.Static {
		from.delivery = graph.FromBootstrap
	}
	for _, body := range bodies {
		switch {
		case body.node != nil:
			d.any(from, body.node)
		case body.message != nil:
			fields := body.message.Descriptor().Fields()
			d.packedAny(from, packed{url: body.message.Get(fields.ByNumber(1)).String(), value: body.message.Get(fields.ByNumber(2)).Bytes()})
		}
	}
}

// boot adds the bootstrap, and its static resources that are not in any section.
func (d *dump) boot(v view) {
	in := *d.in
	switch {
	case v.node != nil:
		in.docs, in.main, in.binary = []*graph.TextNode{v.node}, 0, nil
	default:
		raw, err := proto.Marshal(v.message.Interface())
		if err != nil {
			return
		}
		in.binary = readBootstrap(raw)
		if in.binary == nil {
			return
		}
	}
	first := len(d.parts)
	d.bootstrap(&in)
	parts := d.parts
	d.parts = d.parts[:first:first]
	for _, p := range parts[first:] {
		if !d.has[p.resource.Kind] {
			d.parts = append(d.parts, p)
		}
	}
}

// view is a message of a config_dump, as a text or binary.
type view struct {
	name    protoreflect.FullName // of its type, from the Any around it
	node    *graph.TextNode
	message protoreflect.Message
}

// views returns the sections and elements of a config_dump.
func (d *dump) views() []view {
	var views []view
	if d.in.binary != nil {
		for _, p := range d.in.binary.resources {
			name := decode.TypeName(p.url)
			mt, err := d.types.FindMessageByName(name)
			if err != nil {
				continue
			}
			m := mt.New()
			if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(p.value, m.Interface()); err == nil {
				views = append(views, view{name: name, message: m})
			}
		}
		return views
	}
	for _, v := range d.configs() {
		if url := v.node.Get("@type"); url != nil {
			v.name = decode.TypeName(url.Text)
			views = append(views, v)
		}
	}
	return views
}

// configs returns the sections of a text: those of a config_dump, a list of them, or one by itself.
func (d *dump) configs() []view {
	root := view{node: d.in.docs[d.in.main]}
	switch {
	case root.node.Kind == tree.List:
		return root.items()
	case root.node.Field("configs") != nil:
		return root.at("configs")
	}
	return []view{root}
}

// items returns the elements of a list.
func (v view) items() (all []view) {
	for i := range v.node.Items {
		all = append(all, view{node: &v.node.Items[i]})
	}
	return all
}

// text returns the string in a field.
func (v view) text(name protoreflect.Name) string {
	switch {
	case v.node != nil:
		if n := v.node.Field(string(name)); n != nil {
			return n.Text
		}
	case v.message != nil:
		if fd := v.message.Descriptor().Fields().ByName(name); fd != nil && fd.Kind() == protoreflect.StringKind {
			return v.message.Get(fd).String()
		}
	}
	return ""
}

// at returns the message in a field, or the messages.
func (v view) at(name protoreflect.Name) []view {
	var found []view
	switch {
	case v.node != nil:
		n := v.node.Field(string(name))
		if n == nil {
			return nil
		}
		if n.Kind == tree.Map {
			return []view{{node: n}}
		}
		return view{node: n}.items()
	case v.message != nil:
		fd := v.message.Descriptor().Fields().ByName(name)
		if fd == nil || fd.Message() == nil || !v.message.Has(fd) {
			return nil
		}
		if !fd.IsList() {
			return []view{{message: v.message.Get(fd).Message()}}
		}
		list := v.message.Get(fd).List()
		for i := range list.Len() {
			found = append(found, view{message: list.Get(i).Message()})
		}
	}
	return found
}
