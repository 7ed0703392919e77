package cluster

import (
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "grpc-needs-http2",
	Severity: lint.Error,
	Summary:  "Envoy calls a gRPC service by a cluster that speaks HTTP/1, so every call fails",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/grpc_service.proto",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/other_protocols/grpc",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		http, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok || carriesGRPC(http, c) || !slices.Contains(plainFactories, envoy.ClusterFactory(p.Target.Extensions(), c)) {
			return
		}
		calls := p.Snapshot.To(at.Resource())
		i := slices.IndexFunc(calls, envoy.CallsGRPC)
		if i < 0 {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("cluster %q is for a gRPC service, but speaks HTTP/1", c.GetName()),
			Notes:   []string{"gRPC needs HTTP/2: a gRPC server closes the connection, and the calls fail"},
			Help:    "add http2_protocol_options to the HttpProtocolOptions of the cluster",
			Related: []lint.Related{lint.RelatedTo(calls[i].At(), "this is the service")},
		}
		if len(c.GetTypedExtensionProtocolOptions()) == 0 {
			d.Fixes = lint.Insert(at, "typed_extension_protocol_options", http2Options).Likely("speak HTTP/2")
		}
		p.Report(at.Field("name"), d)
	}),
})

// carriesGRPC reports whether the protocol of a cluster can carry gRPC. With trailers, HTTP/1 can.
func carriesGRPC(h envoy.UpstreamHTTP, c *clusterv3.Cluster) bool {
	explicit := h.Typed.GetExplicitHttpConfig()
	return h.HTTP2(c) || explicit.GetHttp3ProtocolOptions() != nil || explicit.GetHttpProtocolOptions().GetEnableTrailers() ||
		h.Typed.GetUseDownstreamProtocolConfig() != nil || c.GetHttpProtocolOptions().GetEnableTrailers() //nolint:staticcheck // deprecated, and in use
}

// plainFactories make clusters whose connections have the protocol of the cluster itself, and not that of other clusters.
var plainFactories = []string{envoy.ClusterStatic, envoy.ClusterStrictDNS, envoy.ClusterLogicalDNS, envoy.ClusterEDS, envoy.ClusterDNS}

// http2Options are the options of a cluster that speaks HTTP/2.
var http2Options = lint.Fields{{Name: envoy.HTTPOptionsKey, Value: lint.Fields{
	{Name: "@type", Value: "type.googleapis.com/" + envoy.HTTPOptionsKey},
	{Name: "explicit_http_config", Value: lint.Fields{{Name: "http2_protocol_options", Value: lint.Fields{}}}},
}}}
