package prove_test

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/prove"
)

// unnoticed are the messages and fields of which requests do not notice another value, or the edits of fields that they do not notice, and why.
var unnoticed = map[string]string{
	"envoy.config.bootstrap.v3.Bootstrap.admin":                                 "is not compared",
	"envoy.config.bootstrap.v3.Bootstrap.dynamic_resources":                     "where resources come from",
	"envoy.config.bootstrap.v3.Bootstrap.node":                                  "its locality is compared, and the rest if something sees it",
	"envoy.config.bootstrap.v3.Bootstrap.stats_config":                          "statistics",
	"envoy.config.bootstrap.v3.Bootstrap.stats_flush_interval":                  "statistics",
	"envoy.config.bootstrap.v3.Bootstrap.stats_sinks":                           "statistics",
	"envoy.config.cluster.v3.Cluster.alt_stat_name":                             "statistics; it is compared if a header shows it",
	"envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name":               "the endpoints in a cluster do not need it",
	"envoy.config.listener.v3.Filter.name":                                      "the last filter is the connection manager, whatever its name is",
	"envoy.config.listener.v3.FilterChain.name":                                 "it is compared if something sees it",
	"envoy.config.listener.v3.FilterChainMatch.address_suffix":                  "Envoy does not read it",
	"envoy.config.listener.v3.FilterChainMatch.suffix_len":                      "Envoy does not read it",
	"envoy.config.listener.v3.Listener.access_log":                              "logs",
	"envoy.config.listener.v3.Listener.default_filter_chain set":                "other chains take all connections",
	"envoy.config.listener.v3.Listener.name":                                    "the address is what clients know",
	"envoy.config.listener.v3.Listener.stat_prefix":                             "statistics",
	"envoy.config.route.v3.HeaderMatcher.present_match removed":                 "the default is the same",
	"envoy.config.route.v3.HeaderMatcher.treat_missing_header_as_empty set":     "the empty text does not fit either",
	"envoy.config.route.v3.Route.name":                                          "it is compared if something sees it",
	"envoy.config.route.v3.Route.stat_prefix":                                   "statistics",
	"envoy.config.route.v3.RouteConfiguration.name":                             "nothing sees it",
	"envoy.config.route.v3.RouteConfiguration.validate_clusters":                "whether Envoy accepts the table",
	"envoy.config.route.v3.RouteMatch.case_sensitive set to nothing":            "the path does not have letters",
	"envoy.config.route.v3.RouteMatch.case_sensitive set":                       "the default is the same",
	"envoy.config.route.v3.VirtualHost.domains an item more":                    "another domain of the virtual host takes it already",
	"envoy.config.route.v3.VirtualHost.name":                                    "it is compared if something sees it",
	"envoy.config.route.v3.VirtualHost.routes an item more":                     "a route before it takes all requests",
	"envoy.config.core.v3.Node":                                                 "its locality is compared, and the rest if something sees it",
	"envoy.config.listener.v3.FilterChain.filter_chain_match set to nothing":    "the default is the same",
	"envoy.config.listener.v3.FilterChainMatch.destination_port set to nothing": "Envoy takes 0 for any port",
	"envoy.config.listener.v3.Listener.default_filter_chain set to nothing":     "other chains take all connections",
	"envoy.config.route.v3.RouteMatch.tls_context set to nothing":               "it does not demand anything",
	"envoy.type.matcher.v3.RegexMatcher.google_re2":                             "whether Envoy accepts the expression",
	manager + "access_log":                                                      "logs",
	manager + "access_log_options":                                              "logs",
	manager + "stat_prefix":                                                     "statistics",
}

const manager = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager."

// TestEveryField edits each field of each message of some configurations: nothing is called alike unless requests do not notice the field.
func TestEveryField(t *testing.T) {
	found, tried := map[string]string{}, map[string]int{}
	perField, every, n := 3, 1, 0
	if testing.Short() {
		perField, every = 1, 10
	}
	for name, text := range bootstraps(t) {
		old, now := snapshot(t, text), snapshot(t, text)
		if p := prove.Prove(old, now, prove.Options{}); !p.Alike {
			continue // an API listener
		}
		for e := range fieldsOf(now) {
			key := string(e.field.FullName()) + " " + e.what
			if tried[key]++; tried[key] > perField || found[key] != "" {
				continue
			}
			if n++; n%every != 0 {
				continue
			}
			undo := e.do()
			if prove.Prove(old, edited(now, e.place.Resource), prove.Options{}).Alike {
				found[key] = fmt.Sprintf("%s: %s %s", name, e.place.Resource.Name, e.place.At().Path())
			}
			undo()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		field, _, _ := strings.Cut(key, " ")
		if message := field[:strings.LastIndexByte(field, '.')]; unnoticed[key] == "" && unnoticed[field] == "" && unnoticed[message] == "" {
			t.Errorf("%s is alike in %s", key, found[key])
		}
	}
	t.Log(len(tried), "edits of fields")
	if len(tried) < 1_500 {
		t.Error("these are not many")
	}
}

// bootstraps yields configurations in which nothing is unused.
func bootstraps(t *testing.T) iter.Seq2[string, string] {
	t.Helper()
	return func(yield func(name, text string) bool) {
		for _, path := range []string{"walk/edge.yaml", "walk/shop.yaml", "posture/edge.yaml"} {
			text, err := os.ReadFile("../../testdata/" + path)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(path, string(text)) {
				return
			}
		}
		yield("rich", rich)
	}
}

// edited returns the snapshot after an edit of a resource.
func edited(s *graph.Snapshot, changed *graph.Resource) *graph.Snapshot {
	resources := slices.Clone(s.Resources)
	for i, r := range resources {
		if r == changed {
			name := r.Name
			if named, ok := r.Message.(interface{ GetName() string }); ok {
				name = named.GetName()
			}
			resources[i] = r.As(name, r.Message)
		}
	}
	return s.With(resources)
}

// edit gives a field of one message another value.
type edit struct {
	place *graph.Place
	field protoreflect.FieldDescriptor
	value protoreflect.Value // invalid: the field is not set
	what  string
}

// do makes the edit in place, and returns what takes it back.
func (e edit) do() (undo func()) {
	m, field := e.place.Message, e.field
	if of := e.field.ContainingOneof(); of != nil && m.WhichOneof(of) != nil {
		field = m.WhichOneof(of)
	}
	before := held(m, field)
	set := func(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
		if v.IsValid() {
			m.Set(fd, v)
		} else {
			m.Clear(fd)
		}
	}
	set(e.field, e.value)
	return func() {
		m.Clear(e.field)
		set(field, before)
	}
}

// held returns the value of a field. Lists and maps are copied, since those of a message change with it.
func held(m protoreflect.Message, fd protoreflect.FieldDescriptor) protoreflect.Value {
	if !m.Has(fd) {
		return protoreflect.Value{}
	}
	copied := m.NewField(fd)
	switch {
	case fd.IsMap():
		m.Get(fd).Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			copied.Map().Set(k, v)
			return true
		})
	case fd.IsList():
		for i := range m.Get(fd).List().Len() {
			copied.List().Append(m.Get(fd).List().Get(i))
		}
	default:
		return m.Get(fd)
	}
	return copied
}

// fieldsOf yields edits of all fields, whether they are set or not.
func fieldsOf(s *graph.Snapshot) iter.Seq[edit] {
	return func(yield func(edit) bool) {
		for _, r := range s.Decoded() {
			var places []*graph.Place
			r.Walk(func(p *graph.Place) { places = append(places, p) })
			for _, p := range places {
				md := p.Message.Descriptor()
				if md.FullName().Parent() == "google.protobuf" || md.Name() == "StaticResources" || strings.Contains(string(md.FullName()), "TypedStruct") {
					continue // values, and what holds resources
				}
				for i := range md.Fields().Len() {
					for _, e := range editsOf(p, md.Fields().Get(i)) {
						if e.field.Name() != "static_resources" && !yield(e) {
							return
						}
					}
				}
			}
		}
	}
}

func editsOf(p *graph.Place, fd protoreflect.FieldDescriptor) (all []edit) {
	m := p.Message
	add := func(v protoreflect.Value, what string) { all = append(all, edit{p, fd, v, what}) }
	if m.Has(fd) {
		add(protoreflect.Value{}, "removed")
	}
	switch {
	case fd.IsMap():
		made := m.NewField(fd)
		if m.Has(fd) {
			made = held(m, fd)
		}
		made.Map().Set(scalarOf(fd.MapKey()).MapKey(), sampleOf(fd.MapValue(), made.Map().NewValue, 2))
		add(made, "an entry more")
	case fd.IsList():
		made := m.NewField(fd)
		if m.Has(fd) {
			made = held(m, fd)
		}
		made.List().Append(sampleOf(fd, made.List().NewElement, 2))
		add(made, "an item more")
	case fd.Message() != nil:
		if !m.Has(fd) {
			add(sampleOf(fd, func() protoreflect.Value { return m.NewField(fd) }, 2), "set")
			add(m.NewField(fd), "set to nothing")
		}
	case m.Has(fd):
		add(otherThan(fd, m.Get(fd)), "another value")
	default:
		add(scalarOf(fd), "set")
	}
	return all
}

// sampleOf returns a value of a field, of which messages are filled to a depth.
func sampleOf(fd protoreflect.FieldDescriptor, empty func() protoreflect.Value, depth int) protoreflect.Value {
	if fd.Message() == nil {
		return scalarOf(fd)
	}
	v := empty()
	fill(v.Message(), depth)
	return v
}

// fill gives the fields of a message values.
func fill(m protoreflect.Message, depth int) {
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		m.Set(m.Descriptor().Fields().ByName("type_url"), protoreflect.ValueOfString("type.googleapis.com/acme.Unknown"))
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		if o := fd.ContainingOneof(); o != nil && m.WhichOneof(o) != nil {
			continue
		}
		switch {
		case fd.IsMap():
		case fd.Message() == nil && fd.IsList():
			m.Mutable(fd).List().Append(scalarOf(fd))
		case fd.Message() == nil:
			m.Set(fd, scalarOf(fd))
		case depth > 0 && !fd.IsList():
			fill(m.Mutable(fd).Message(), depth-1)
		}
	}
}

// scalarOf returns a value that is not the default.
func scalarOf(fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(fd.Enum().Values().Get(fd.Enum().Values().Len() - 1).Number())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("sample")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte("sample"))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(7)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(7)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(7)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(7)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(7)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(7)
	}
	panic(fmt.Sprint(fd.FullName(), " is a ", fd.Kind()))
}

// otherThan returns another value of a scalar field.
func otherThan(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch sample := scalarOf(fd); {
	case fd.Kind() == protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!v.Bool())
	case fd.Kind() == protoreflect.StringKind:
		return protoreflect.ValueOfString(v.String() + "x")
	case fd.Kind() == protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(append(slices.Clone(v.Bytes()), 'x'))
	case !sample.Equal(v):
		return sample
	case fd.Kind() == protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(0)
	default:
		return fd.Default()
	}
}
