package envoy

import (
	"cmp"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// The cluster factories that rules distinguish.
const (
	ClusterStatic      = "envoy.cluster.static"
	ClusterStrictDNS   = "envoy.cluster.strict_dns"
	ClusterLogicalDNS  = "envoy.cluster.logical_dns"
	ClusterOriginalDst = "envoy.cluster.original_dst"
	ClusterEDS         = "envoy.cluster.eds"
	ClusterDNS         = "envoy.cluster.dns"
	ClusterDFP         = "envoy.clusters.dynamic_forward_proxy"
)

// ClusterFactory returns the name of the extension that makes the cluster (ClusterFactoryImplBase::create), or "" if Envoy does not have
// it.
func ClusterFactory(x *dataplane.Extensions, c *clusterv3.Cluster) string {
	custom := c.GetClusterType()
	if custom == nil {
		switch c.GetType() {
		case clusterv3.Cluster_STATIC:
			return ClusterStatic
		case clusterv3.Cluster_STRICT_DNS:
			return ClusterStrictDNS
		case clusterv3.Cluster_LOGICAL_DNS:
			return ClusterLogicalDNS
		case clusterv3.Cluster_ORIGINAL_DST:
			return ClusterOriginalDst
		case clusterv3.Cluster_EDS:
			return ClusterEDS
		}
		return ""
	}
	name := decode.TypeName(custom.GetTypedConfig().GetTypeUrl())
	if custom.GetTypedConfig() == nil || name == "google.protobuf.Struct" {
		return custom.GetName()
	}
	for _, e := range x.ByTypeURL(string(name)) {
		if e.Category == "envoy.clusters" {
			return e.Name
		}
	}
	return ""
}

// readsResolver reports whether the factory of a cluster reads the cluster's own fields about DNS (ClusterFactoryImplBase::selectDnsResolver);
// the others that resolve names have such fields in their configuration.
func readsResolver(factory string) bool {
	return factory == ClusterStrictDNS || factory == ClusterLogicalDNS || factory == "envoy.clusters.redis"
}

// ClusterConfig returns the configuration of a cluster_type and its place. The message is nil if there is none or its type is not known.
func ClusterConfig(at graph.At, c *clusterv3.Cluster) (proto.Message, graph.At) {
	return Content(at.Field("cluster_type", "typed_config"), c.GetClusterType().GetTypedConfig())
}

// Content returns the message in an Any and its place. If the Any holds a TypedStruct, it returns the message that the struct represents.
func Content(at graph.At, held *anypb.Any) (proto.Message, graph.At) {
	if held == nil {
		return nil, at
	}
	m := at.Content(held)
	if m == nil || !decode.IsTypedStruct(m.ProtoReflect().Descriptor().FullName()) {
		return m, at
	}
	value := m.ProtoReflect().Get(m.ProtoReflect().Descriptor().Fields().ByName("value")).Message().Interface()
	return at.Content(value), at.Field("value")
}

// HTTPOptionsKey is the key of HttpProtocolOptions in the typed_extension_protocol_options of a cluster.
const HTTPOptionsKey = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// UpstreamHTTP is how a cluster speaks HTTP: its typed options, or the older fields of the cluster if Typed is nil.
type UpstreamHTTP struct {
	Typed *httpv3.HttpProtocolOptions
	At    graph.At // the typed options
}

// UpstreamHTTPOf returns the HTTP options of a cluster. ok is false if it has typed options that did not decode.
func UpstreamHTTPOf(at graph.At, c *clusterv3.Cluster) (h UpstreamHTTP, ok bool) {
	held, typed := c.GetTypedExtensionProtocolOptions()[HTTPOptionsKey]
	if !typed {
		return h, true
	}
	var m proto.Message
	m, h.At = Content(at.Entry("typed_extension_protocol_options", HTTPOptionsKey), held)
	h.Typed, ok = m.(*httpv3.HttpProtocolOptions)
	return h, ok
}

// HTTP2 reports whether the cluster can speak HTTP/2.
func (h UpstreamHTTP) HTTP2(c *clusterv3.Cluster) bool {
	if h.Typed == nil {
		return c.GetHttp2ProtocolOptions() != nil //nolint:staticcheck // deprecated, and in use
	}
	return h.Typed.GetAutoConfig() != nil || h.Typed.GetExplicitHttpConfig().GetHttp2ProtocolOptions() != nil ||
		h.Typed.GetUseDownstreamProtocolConfig().GetHttp2ProtocolOptions() != nil
}

// HTTP2Options returns the options for HTTP/2 of a cluster, or nil if it has none.
func (h UpstreamHTTP) HTTP2Options(c *clusterv3.Cluster) *corev3.Http2ProtocolOptions {
	if h.Typed == nil {
		return c.GetHttp2ProtocolOptions() //nolint:staticcheck // deprecated, and in use
	}
	return cmp.Or(h.Typed.GetExplicitHttpConfig().GetHttp2ProtocolOptions(), h.Typed.GetAutoConfig().GetHttp2ProtocolOptions(),
		h.Typed.GetUseDownstreamProtocolConfig().GetHttp2ProtocolOptions())
}

// HTTP1Only reports whether the cluster speaks neither HTTP/2 nor HTTP/3.
func (h UpstreamHTTP) HTTP1Only(c *clusterv3.Cluster) bool {
	return !h.HTTP2(c) && h.Typed.GetExplicitHttpConfig().GetHttp3ProtocolOptions() == nil && h.Typed.GetUseDownstreamProtocolConfig().GetHttp3ProtocolOptions() == nil
}

// Upstream returns the upstream_http_protocol_options that apply.
func (h UpstreamHTTP) Upstream(c *clusterv3.Cluster) *corev3.UpstreamHttpProtocolOptions {
	if h.Typed != nil {
		return h.Typed.GetUpstreamHttpProtocolOptions()
	}
	return c.GetUpstreamHttpProtocolOptions() //nolint:staticcheck // deprecated, and in use
}
