// Package made knows what Envoy makes of a cluster: by which factory, with which protocols and which load balancing.
package made

import (
	"math"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	maglevv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/maglev/v3"
	ringhashv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/ring_hash/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/target"
)

// The factories of clusters that rules ask for.
const (
	Static      = "envoy.cluster.static"
	StrictDNS   = "envoy.cluster.strict_dns"
	LogicalDNS  = "envoy.cluster.logical_dns"
	OriginalDst = "envoy.cluster.original_dst"
	EDS         = "envoy.cluster.eds"
	DNS         = "envoy.cluster.dns"
	DFP         = "envoy.clusters.dynamic_forward_proxy"
)

// EachCluster runs f for every cluster.
func EachCluster(f func(p *lint.Pass, at lint.At, c *clusterv3.Cluster)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		if at.Place.Parent == nil {
			f(p, at, c)
		}
	})
}

// Factory is the name of the extension that makes the cluster (ClusterFactoryImplBase::create); empty if Envoy has none.
func Factory(x *target.Extensions, c *clusterv3.Cluster) string {
	custom := c.GetClusterType()
	if custom == nil {
		switch c.GetType() {
		case clusterv3.Cluster_STATIC:
			return Static
		case clusterv3.Cluster_STRICT_DNS:
			return StrictDNS
		case clusterv3.Cluster_LOGICAL_DNS:
			return LogicalDNS
		case clusterv3.Cluster_ORIGINAL_DST:
			return OriginalDst
		case clusterv3.Cluster_EDS:
			return EDS
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

// Config is what a cluster_type is configured with, nil if there is nothing or it is not known.
func Config(at lint.At, c *clusterv3.Cluster) (proto.Message, lint.At) {
	return Content(at.Field("cluster_type", "typed_config"), c.GetClusterType().GetTypedConfig())
}

// Content is what an Any holds, or what the TypedStruct in it stands for, and where that is.
func Content(at lint.At, held *anypb.Any) (proto.Message, lint.At) {
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

// HTTPKey is under which a cluster has its HttpProtocolOptions.
const HTTPKey = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// HTTP is how a cluster speaks HTTP: the typed options, or where there are none the older fields of the cluster itself.
type HTTP struct {
	Typed *httpv3.HttpProtocolOptions
	At    lint.At // the typed options
}

// HTTPOf finds the options; ok is false if they cannot be known.
func HTTPOf(at lint.At, c *clusterv3.Cluster) (h HTTP, ok bool) {
	held, typed := c.GetTypedExtensionProtocolOptions()[HTTPKey]
	if !typed {
		return h, true
	}
	var m proto.Message
	m, h.At = Content(at.Entry("typed_extension_protocol_options", HTTPKey), held)
	h.Typed, ok = m.(*httpv3.HttpProtocolOptions)
	return h, ok
}

// HTTP2 tells whether the cluster can speak HTTP/2.
func (h HTTP) HTTP2(c *clusterv3.Cluster) bool {
	if h.Typed == nil {
		return c.GetHttp2ProtocolOptions() != nil //nolint:staticcheck // deprecated, and in use
	}
	return h.Typed.GetAutoConfig() != nil || h.Typed.GetExplicitHttpConfig().GetHttp2ProtocolOptions() != nil ||
		h.Typed.GetUseDownstreamProtocolConfig().GetHttp2ProtocolOptions() != nil
}

// Upstream returns the upstream_http_protocol_options.
func (h HTTP) Upstream(c *clusterv3.Cluster) *corev3.UpstreamHttpProtocolOptions {
	if h.Typed != nil {
		return h.Typed.GetUpstreamHttpProtocolOptions()
	}
	return c.GetUpstreamHttpProtocolOptions() //nolint:staticcheck // deprecated, and in use
}

// Balancing is the load balancing policy that a cluster uses: the first of its load_balancing_policy that Envoy knows, or
// its lb_policy.
type Balancing struct {
	Name   string // of the extension; empty if Envoy has none
	Subset bool   // it is used for the subsets of a lb_subset_config
	Config proto.Message
	At     lint.At // the configuration, or the field that names the policy
}

const balancers = "envoy.load_balancing_policies."

// BalancingOf finds the policy (ClusterInfoImpl::configureLbPolicies and LegacyLbPolicyConfigHelper).
func BalancingOf(x *target.Extensions, at lint.At, c *clusterv3.Cluster) Balancing {
	if list := c.GetLoadBalancingPolicy(); list != nil {
		return firstPolicy(x, at.Field("load_balancing_policy"), list)
	}
	b := Balancing{At: at.Field("lb_policy"), Subset: len(c.GetLbSubsetConfig().GetSubsetSelectors()) > 0}
	switch c.GetLbPolicy() {
	case clusterv3.Cluster_RING_HASH:
		b.Name = balancers + "ring_hash"
		if own := c.GetRingHashLbConfig(); own != nil {
			b.At = at.Field("ring_hash_lb_config")
			b.Config = &ringhashv3.RingHash{MinimumRingSize: own.GetMinimumRingSize(), MaximumRingSize: own.GetMaximumRingSize()}
		}
	case clusterv3.Cluster_MAGLEV:
		b.Name = balancers + "maglev"
		if own := c.GetMaglevLbConfig(); own != nil {
			b.At = at.Field("maglev_lb_config")
			b.Config = &maglevv3.Maglev{TableSize: own.GetTableSize()}
		}
	case clusterv3.Cluster_CLUSTER_PROVIDED:
		b.Name = balancers + "cluster_provided"
	}
	return b
}

// Provided tells of a policy whether it leaves load balancing to the cluster.
func (b Balancing) Provided() bool { return b.Name == balancers+"cluster_provided" }

// Hashes tells of a policy whether it adds up all weights of a priority (TypedHashLbConfigBase::validateEndpoints).
func (b Balancing) Hashes() bool {
	return b.Name == balancers+"ring_hash" || b.Name == balancers+"maglev"
}

// MaxWeights is how much the weights of a priority may add up to.
const MaxWeights = math.MaxUint32

// Or is what a wrapper holds, or a default.
func Or(v *wrapperspb.UInt64Value, otherwise uint64) uint64 {
	if v == nil {
		return otherwise
	}
	return v.GetValue()
}
