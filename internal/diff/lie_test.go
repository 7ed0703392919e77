package diff_test

import (
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/diff"
)

// silent is what alone changes nothing for traffic: names, where a configuration comes from, and a default in place of its own value.
var silent = map[string]bool{
	"clear envoy.config.bootstrap.v3.Bootstrap.static_resources":                                           true, // they are resources of their own
	"clear envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config":                                true,
	"clear envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config":                                true,
	"clear envoy.config.bootstrap.v3.Bootstrap.dynamic_resources":                                          true,
	"clear envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":                                    true,
	"clear envoy.config.cluster.v3.Cluster.eds_cluster_config":                                             true,
	"clear envoy.config.core.v3.ExtensionConfigSource.config_source":                                       true,
	"clear envoy.config.route.v3.Vhds.config_source":                                                       true,
	"clear envoy.config.route.v3.RouteAction.timeout":                                                      true, // 15 s
	"clear envoy.extensions.filters.network.http_connection_manager.v3.Rds.config_source":                  true,
	"clear envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source":     true,
	"clear envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.sds_config":                           true,
	"clear envoy.config.route.v3.RouteConfiguration.validate_clusters":                                     true, // it only decides what is rejected, as is_optional
	"clear envoy.config.route.v3.VirtualHost.retry_policy":                                                 true, // the routes of the only one have their own
	"set envoy.config.route.v3.RouteConfiguration.validate_clusters":                                       true,
	"set envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter.is_optional":               true,
	"clear envoy.config.route.v3.WeightedCluster.ClusterWeight.weight":                                     true, // of the only cluster
	"set envoy.config.route.v3.WeightedCluster.ClusterWeight.weight":                                       true,
	"clear envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.rds":          true, // no table, and one without hosts
	"clear envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.route_config": true,
	"set envoy.config.listener.v3.FilterChain.name":                                                        true,
	"set envoy.config.route.v3.Route.name":                                                                 true,
	"set envoy.config.core.v3.ExtensionConfigSource.type_urls":                                             true,
	"shorten envoy.config.core.v3.ExtensionConfigSource.type_urls":                                         true,
	"set envoy.config.core.v3.TransportSocket.name":                                                        true,
	"set envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name":                                      true,
	"set envoy.config.listener.v3.Filter.name":                                                             true,
	"set envoy.config.listener.v3.Listener.name":                                                           true,
	"set envoy.config.route.v3.RouteConfiguration.name":                                                    true,
	"set envoy.config.route.v3.ScopedRouteConfiguration.name":                                              true,
	"set envoy.config.route.v3.VirtualHost.name":                                                           true,
	"set envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.name":                    true,
}

// TestEveryFieldIsCompared: a change of any single value of a configuration is reported, so "everything else is unchanged" is true. The examples of
// rules are often about settings without effect, so a field in them must be reported in one of its places.
func TestEveryFieldIsCompared(t *testing.T) {
	folders := []string{
		"../../testdata/snapshots/storefront", "../../testdata/snapshots/storefront-static", "../../testdata/snapshots/clean",
		"../../testdata/snapshots/storefront-config-dump",
	}
	more, err := filepath.Glob("../../testdata/transitions/*/new")
	if err != nil {
		t.Fatal(err)
	}
	var all []func() *graph.Snapshot
	examples := 0 // the last ones
	if testing.Short() {
		more = more[:min(len(more), 8)]
	}
	for _, folder := range append(folders, more...) {
		for i := range snapshots(t, folder) {
			all = append(all, func() *graph.Snapshot { return snapshots(t, folder)[i] })
		}
	}
	if !testing.Short() {
		archives, err := filepath.Glob("../../testdata/rules/*/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, archive := range archives {
			if strings.Contains(archive, "transition") { // two snapshots each
				continue
			}
			for _, path := range unpacked(t, archive) {
				if !strings.HasPrefix(filepath.Base(path), "good") {
					continue
				}
				for i := range snapshots(t, path) {
					all = append(all, func() *graph.Snapshot { return snapshots(t, path)[i] })
					examples++
				}
			}
		}
	}
	missed, missedInExamples, reported := map[string]string{}, map[string]string{}, map[string]bool{}
	for i, read := range all {
		old, now := read(), read()
		if old.Resources[0].Kind == graph.Patch { // what comes of it only its control plane knows
			continue
		}
		mutateAll(now, func(field, where string) {
			if d := diff.Diff(old, rebuilt(now)); len(d.Changes)+len(d.Unreached)+len(d.Unknown)+len(d.Shadowed) > 0 {
				reported[field] = true
			} else if i < len(all)-examples {
				missed[field] = where
			} else {
				missedInExamples[field] = where
			}
		})
	}
	for field, where := range missedInExamples {
		if !reported[field] {
			missed[field] = where
		}
	}
	var told []string
	for field, where := range missed {
		if !silent[field] {
			told = append(told, field+" in "+where)
		}
	}
	sort.Strings(told)
	for _, one := range told {
		t.Error(one)
	}
}

func snapshots(t *testing.T, path string) []*graph.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return input.Snapshots
}

// rebuilt is a snapshot of the same resources, whose names and references are read again.
func rebuilt(s *graph.Snapshot) *graph.Snapshot {
	again := &graph.Snapshot{Name: s.Name, NoBootstrap: s.NoBootstrap}
	for _, r := range s.Resources {
		copied := &graph.Resource{
			Kind: r.Kind, Name: r.Name, Message: r.Message, Contents: r.Contents, Source: r.Source, Delivery: r.Delivery, State: r.State, File: r.File,
		}
		if r.Message != nil && r.Kind != graph.File {
			copied.Name = graph.NameOf(r.Message.ProtoReflect())
		}
		again.Add(copied)
	}
	again.Build()
	return again
}

// mutateAll gives every value in a snapshot another one, each for the time of a call.
func mutateAll(s *graph.Snapshot, f func(field, where string)) {
	for _, r := range s.Resources {
		r.Walk(func(at *graph.Place) {
			if at.Message.Descriptor().FullName() == "google.protobuf.Any" || at.Message.Descriptor().FullName().Parent() == "google.protobuf" {
				return
			}
			if at.Enclosing("envoy.config.core.v3.ConfigSource") != nil || at.Message.Descriptor().FullName() == "envoy.config.bootstrap.v3.Bootstrap.StaticResources" {
				return
			}
			where := string(r.Kind) + " " + r.Name + " " + at.Path.String()
			var set []protoreflect.FieldDescriptor
			at.Message.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
				set = append(set, fd)
				return true
			})
			for _, fd := range set {
				mutate(at.Message, fd, func(how string) {
					pack(at)
					f(how+" "+string(fd.FullName()), where)
				})
				pack(at)
			}
		})
	}
}

// pack encodes the Anys around a message again.
func pack(at *graph.Place) {
	for p := at; p != nil; p = p.Parent {
		if a, ok := p.Message.Interface().(*anypb.Any); ok {
			if content := p.Resource.Contents[a]; content != nil {
				a.Value, _ = proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(content)
			}
		}
	}
}

func mutate(m protoreflect.Message, fd protoreflect.FieldDescriptor, f func(how string)) {
	was := m.Get(fd)
	switch {
	case fd.IsMap():
	case fd.IsList():
		list := was.List()
		for i := range list.Len() {
			if fd.Message() == nil {
				old := list.Get(i)
				list.Set(i, other(fd, old))
				f("set")
				list.Set(i, old)
			}
		}
		// The last one goes.
		last := list.Get(list.Len() - 1)
		if fd.Message() != nil {
			last = protoreflect.ValueOfMessage(last.Message())
		}
		list.Truncate(list.Len() - 1)
		f("shorten")
		m.Mutable(fd).List().Append(last)
	case fd.Message() == nil:
		m.Set(fd, other(fd, was))
		f("set")
		m.Set(fd, was)
	default:
		if wraps(fd.Message()) {
			value := fd.Message().Fields().ByNumber(1)
			inner := proto.Clone(was.Message().Interface()).ProtoReflect()
			inner.Set(value, other(value, inner.Get(value)))
			m.Set(fd, protoreflect.ValueOfMessage(inner))
			f("set")
		}
		m.Clear(fd)
		f("clear")
		m.Set(fd, was)
	}
}

func wraps(md protoreflect.MessageDescriptor) bool {
	return md.FullName().Parent() == "google.protobuf" && md.Fields().Len() > 0 && md.Fields().ByNumber(1) != nil &&
		md.Fields().ByNumber(1).Message() == nil && md.FullName() != "google.protobuf.Any"
}

func other(fd protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!v.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(v.Enum() + 1)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(v.String() + "x")
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(append([]byte("x"), v.Bytes()...))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(v.Int()) + 1)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(v.Int() + 1)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(v.Uint()) + 1)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(v.Uint() + 1)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(v.Float() + 1)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(v.Float()) + 1)
	}
	return v
}
