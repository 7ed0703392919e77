package graph

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

func fieldOf(t *testing.T, name protoreflect.FullName) protoreflect.FieldDescriptor {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	fd, ok := found.(protoreflect.FieldDescriptor)
	if !ok {
		t.Errorf("%s is no field", name)
	}
	return fd
}

func TestReferencesAreFieldsWithNames(t *testing.T) {
	seen := map[protoreflect.FullName]bool{}
	for _, ref := range references {
		if seen[ref.field] {
			t.Errorf("%s stands here twice", ref.field)
		}
		seen[ref.field] = true
		fd := fieldOf(t, ref.field)
		if fd == nil {
			continue
		}
		if fd.IsMap() {
			fd = fd.MapKey()
		}
		if fd.Kind() != protoreflect.StringKind {
			t.Errorf("%s holds %s, not names", ref.field, fd.Kind())
		}
		if ref.source != "" {
			holder := ref.field.Parent()
			if ref.around != "" {
				holder = ref.around
			}
			source := fieldOf(t, holder.Append(ref.source))
			if source != nil && (source.Message() == nil || source.Message().FullName() != "envoy.config.core.v3.ConfigSource") {
				t.Errorf("%s is no ConfigSource", source.FullName())
			}
		}
		if ref.scope != "" {
			if _, err := protoregistry.GlobalTypes.FindMessageByName(ref.scope); err != nil {
				t.Errorf("%s: scope: %v", ref.field, err)
			}
			if !slices.Contains(slices.Collect(maps.Values(declarations)), ref.kind) {
				t.Errorf("%s: nothing declares a %s", ref.field, ref.kind)
			}
		}
	}
	for _, name := range []protoreflect.FullName{fieldEDS, fieldECDS, fieldChainMatcher, fieldScopedRoutes, fieldVirtualHosts, fieldLbEndpoints} {
		fieldOf(t, name)
	}
	for name := range filterConfigs {
		if fd := fieldOf(t, name); fd != nil && (!fd.IsMap() || fd.MapKey().Kind() != protoreflect.StringKind) {
			t.Errorf("%s is no map by names", name)
		}
	}
}

func TestDeclarationsAreFieldsWithNames(t *testing.T) {
	for name := range declarations {
		fd := fieldOf(t, name)
		switch {
		case fd == nil:
		case fd.IsMap() && fd.MapKey().Kind() == protoreflect.StringKind:
		case fd.Message() != nil && fd.Message().Fields().ByName("name") != nil:
		case fd.Kind() == protoreflect.StringKind:
		default:
			t.Errorf("%s gives no name", name)
		}
	}
	for name, c := range carriers {
		fieldOf(t, name.Append(c.by))
	}
}

// everyField calls f for each field of Envoy's v3 messages, hand-written protos of other projects left out.
func everyField(f func(fd protoreflect.FieldDescriptor)) {
	var messages func(all protoreflect.MessageDescriptors)
	messages = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			for j := range all.Get(i).Fields().Len() {
				f(all.Get(i).Fields().Get(j))
			}
			messages(all.Get(i).Messages())
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if strings.HasPrefix(string(file.Package()), "envoy.") {
			messages(file.Messages())
		}
		return true
	})
}

// notClusters look like names of clusters and are none that Envoy looks up.
var notClusters = map[protoreflect.FullName]string{
	"envoy.admin.v3.ClusterStatus.name":                                                      "part of an admin page",
	"envoy.admin.v3.CommandLineOptions.service_cluster":                                      "what the command line says of this Envoy",
	"envoy.config.core.v3.Node.cluster":                                                      "what this Envoy is part of, for the config server",
	"envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name":                            "the resource's own name",
	"envoy.config.endpoint.v3.ClusterStats.cluster_name":                                     "part of a load report",
	"envoy.config.endpoint.v3.ClusterStats.cluster_service_name":                             "part of a load report",
	"envoy.config.route.v3.RouteAction.cluster_header":                                       "a header, whose value names the cluster",
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster_header":                   "a header",
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.cluster_header":                     "a header",
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.cluster_header":            "a header",
	"envoy.config.route.v3.RouteAction.cluster_specifier_plugin":                             "a plugin, which has a line of its own",
	"envoy.config.trace.v3.LightstepConfig.collector_cluster":                                "Envoy has no such tracer any more",
	"envoy.data.accesslog.v3.AccessLogCommon.upstream_cluster":                               "part of a log entry",
	"envoy.data.cluster.v3.OutlierDetectionEvent.cluster_name":                               "part of an event",
	"envoy.data.core.v3.HealthCheckEvent.cluster_name":                                       "part of an event",
	"envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig.cluster_name":                "the name of an implementation inside the module",
	"envoy.extensions.filters.network.kafka_mesh.v3alpha.ForwardingRule.target_cluster":      "one of the filter's own upstream_clusters",
	"envoy.extensions.filters.http.fault.v3.HTTPFault.upstream_cluster":                      "compared with the cluster of the request's route",
	"envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel.required_cluster_name": "compared with what the peer says of itself",
	"envoy.extensions.filters.network.reverse_tunnel.v3.Validation.cluster_id_format":        "a format that makes such a name",
}

var clusterish = regexp.MustCompile(`(^|_)clusters?(_|$)`)

func TestEveryNameOfAClusterIsKnown(t *testing.T) {
	unused := maps.Clone(notClusters)
	everyField(func(fd protoreflect.FieldDescriptor) {
		name := fd.Kind() == protoreflect.StringKind || fd.IsMap() && fd.MapKey().Kind() == protoreflect.StringKind
		inList := fd.Name() == "name" && strings.Contains(string(fd.Parent().Name()), "Cluster") && fd.Parent().Name() != "Cluster"
		if !name || !clusterish.MatchString(string(fd.Name())) && !inList {
			return
		}
		_, excepted := notClusters[fd.FullName()]
		delete(unused, fd.FullName())
		ref := referencesByField[fd.FullName()]
		switch {
		case ref != nil && ref.kind == Cluster && excepted:
			t.Errorf("%s is a reference and an exception", fd.FullName())
		case (ref == nil || ref.kind != Cluster) && !excepted && fd.Parent().Name() != "VirtualCluster" && fd.Parent().Name() != "CustomClusterType":
			t.Errorf("%s: a reference (see the table), or an exception?", fd.FullName())
		}
	})
	for name := range unused {
		t.Errorf("the exception %s is no such field", name)
	}
}

// otherSources are the fields with a ConfigSource that do not belong to a name in the table.
var otherSources = map[protoreflect.FullName]string{
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config":                                "asks for all clusters",
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config":                                "asks for all listeners",
	"envoy.config.bootstrap.v3.Bootstrap.config_sources":                                             "serves xdstp:// names of any kind",
	"envoy.config.bootstrap.v3.Bootstrap.default_config_source":                                      "serves xdstp:// names of any kind",
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":                                    "EDS: build.go",
	"envoy.config.cluster.v3.Cluster.lrs_server":                                                     "serves no resources",
	"envoy.config.core.v3.ExtensionConfigSource.config_source":                                       "ECDS: build.go",
	"envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_config":                                 "LEDS: special.go",
	"envoy.config.listener.v3.Listener.FcdsConfig.config_source":                                     "filter chains as resources: no loader knows them",
	"envoy.config.route.v3.Vhds.config_source":                                                       "VHDS: special.go",
	"envoy.extensions.access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket.config_source":  "token buckets as resources: no loader knows them",
	"envoy.extensions.clusters.aggregate.v3.AggregateClusterResource.config_source":                  "not implemented in Envoy",
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":                                  "asks for clusters as requests need them",
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":                   "asks for clusters as connections need them",
	"envoy.extensions.filters.network.dubbo_proxy.v3.Drds.config_source":                             "route tables of a type of their own",
	"envoy.extensions.filters.network.generic_proxy.v3.GenericRds.config_source":                     "route tables of a type of their own",
	"envoy.extensions.filters.network.thrift_proxy.v3.Trds.config_source":                            "route tables of a type of their own",
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source": "SRDS: special.go",
}

func TestEveryConfigSourceIsKnown(t *testing.T) {
	known := map[protoreflect.FullName]bool{}
	for _, ref := range references {
		if ref.source != "" && ref.around != "" {
			known[ref.around.Append(ref.source)] = true
		} else if ref.source != "" {
			known[ref.field.Parent().Append(ref.source)] = true
		}
	}
	everyField(func(fd protoreflect.FieldDescriptor) {
		if fd.Message() == nil || fd.Message().FullName() != "envoy.config.core.v3.ConfigSource" {
			return
		}
		if _, excepted := otherSources[fd.FullName()]; !excepted && !known[fd.FullName()] {
			t.Errorf("%s: which names does it serve?", fd.FullName())
		}
	})
}
