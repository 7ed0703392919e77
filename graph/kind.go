package graph

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/internal/fields"
)

// Kind is the kind of thing that a name refers to. Flags, JSON and docs use the same spelling.
type Kind string

// The resources of xDS.
const (
	Bootstrap                Kind = "bootstrap"
	Listener                 Kind = "listener"
	RouteConfiguration       Kind = "route_configuration"
	ScopedRouteConfiguration Kind = "scoped_route_configuration"
	VirtualHost              Kind = "virtual_host"
	Cluster                  Kind = "cluster"
	ClusterLoadAssignment    Kind = "cluster_load_assignment"
	LbEndpoint               Kind = "lb_endpoint"
	Secret                   Kind = "secret"
	Runtime                  Kind = "runtime"
	ExtensionConfig          Kind = "extension_config"
)

// GRPCBootstrap is the file that GRPC_XDS_BOOTSTRAP names. Its message is a google.protobuf.Struct.
const GRPCBootstrap Kind = "grpc_bootstrap"

// File is an input that is not a resource: broken, or not readable.
const File Kind = "file"

// Kubernetes objects that say how a bootstrap runs.
const (
	Workload Kind = "workload" // its pods run the bootstrap
	Service  Kind = "service"  // sends traffic to such pods
)

// Names that are declared inside a resource.
const (
	FilterChain            Kind = "filter_chain"
	HTTPFilter             Kind = "http_filter"
	JWTProvider            Kind = "jwt_provider"
	DNSCache               Kind = "dns_cache"
	InternalListener       Kind = "internal_listener"
	ClusterSpecifierPlugin Kind = "cluster_specifier_plugin"
	ResourceMonitor        Kind = "resource_monitor"
)

// Kinds returns all kinds that a name can have, in their spelling for flags.
func Kinds() []Kind {
	return []Kind{
		Bootstrap, Listener, FilterChain, RouteConfiguration, ScopedRouteConfiguration, VirtualHost, Cluster, ClusterLoadAssignment,
		LbEndpoint, Secret, Runtime, ExtensionConfig, HTTPFilter, JWTProvider, DNSCache, InternalListener, ClusterSpecifierPlugin, ResourceMonitor,
	}
}

// typeKinds maps the messages that are resources to their kinds.
var typeKinds = map[protoreflect.FullName]Kind{
	"envoy.config.bootstrap.v3.Bootstrap":              Bootstrap,
	"envoy.config.listener.v3.Listener":                Listener,
	"envoy.config.route.v3.RouteConfiguration":         RouteConfiguration,
	"envoy.config.route.v3.ScopedRouteConfiguration":   ScopedRouteConfiguration,
	"envoy.config.route.v3.VirtualHost":                VirtualHost,
	"envoy.config.cluster.v3.Cluster":                  Cluster,
	"envoy.config.endpoint.v3.ClusterLoadAssignment":   ClusterLoadAssignment,
	"envoy.config.endpoint.v3.LbEndpoint":              LbEndpoint,
	"envoy.extensions.transport_sockets.tls.v3.Secret": Secret,
	"envoy.service.runtime.v3.Runtime":                 Runtime,
	"envoy.config.core.v3.TypedExtensionConfig":        ExtensionConfig,
}

// KindOf returns the kind of resource of a message type. It is empty if the type is not a resource.
func KindOf(name protoreflect.FullName) Kind { return typeKinds[name] }

// TypeURL returns the type URL of a kind in discovery requests. It is empty if the kind has none.
func TypeURL(kind Kind) string {
	for name, known := range typeKinds {
		if known == kind {
			return "type.googleapis.com/" + string(name)
		}
	}
	return ""
}

// NameOf returns the name in a resource's message.
func NameOf(m protoreflect.Message) string {
	in := fields.In(m)
	for _, f := range nameFields(m.Descriptor()) {
		switch {
		case !in.IsSet(&f):
		case f.Kind() == protoreflect.StringKind:
			return in.Value(&f).String()
		default:
			if node, ok := in.Inner(&f).Interface().(*corev3.Node); ok {
				return node.GetId()
			}
		}
	}
	return ""
}

// nameFields finds the field that holds the name: of a bootstrap, its node.
var nameFields = fields.Of(func(fd protoreflect.FieldDescriptor) bool {
	switch text := fd.Kind() == protoreflect.StringKind; fd.Name() {
	case "name":
		return text
	case "cluster_name":
		other := fd.ContainingMessage().Fields().ByName("name")
		return text && (other == nil || other.Kind() != protoreflect.StringKind)
	}
	return fd.FullName() == "envoy.config.bootstrap.v3.Bootstrap.node"
})

// Source is the server of a resource. Every ConfigSource is its own server.
type Source string

// Sources with fixed names. Others are "path:FILE" and "api:CLUSTER".
const (
	Anywhere Source = ""       // not known, or irrelevant
	Static   Source = "static" // the bootstrap itself
	ADS      Source = "ads"
)

// PathSource returns the source of a filesystem subscription to one file.
func PathSource(path string) Source { return Source("path:" + path) }

// SourceOf returns the server that a ConfigSource names. A nil ConfigSource is the bootstrap itself (SdsSecretConfig
// without sds_config). Self is the server that delivered the resource with the reference.
func SourceOf(cs *corev3.ConfigSource, self Source) Source {
	switch s := cs.GetConfigSourceSpecifier().(type) {
	case *corev3.ConfigSource_Ads:
		return ADS
	case *corev3.ConfigSource_Self:
		return self
	case *corev3.ConfigSource_PathConfigSource:
		return PathSource(s.PathConfigSource.GetPath())
	case *corev3.ConfigSource_Path: //nolint:staticcheck // deprecated, and in use
		return PathSource(s.Path)
	case *corev3.ConfigSource_ApiConfigSource:
		return apiSource(s.ApiConfigSource)
	}
	return Static
}

func apiSource(api *corev3.ApiConfigSource) Source {
	name := "?"
	for _, g := range api.GetGrpcServices() {
		name = g.GetEnvoyGrpc().GetClusterName() + g.GetGoogleGrpc().GetTargetUri()
	}
	for _, c := range api.GetClusterNames() {
		name = c
	}
	return Source("api:" + name)
}
