package tls

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "upstream-alpn-protocol",
	Severity: lint.Warning,
	Summary:  "a cluster offers h2 to its servers, and speaks HTTP/1 to them",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/tls.proto",
		"https://github.com/envoyproxy/envoy/issues/34326",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		http, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok || http.HTTP2(c) || http.Typed.GetAutoConfig() != nil || http.Typed.GetUseDownstreamProtocolConfig() != nil || !check.Routed(p, at.Resource()) {
			return
		}
		envoy.EachTransportSocket(at, c, func(at graph.At, m proto.Message) {
			context, ok := m.(*tlsv3.UpstreamTlsContext)
			if !ok || !offers(context.GetCommonTlsContext(), "h2") {
				return
			}
			p.Report(at.Field("common_tls_context", "alpn_protocols"), lint.Diagnostic{
				Message: fmt.Sprintf("a server that supports HTTP/2 selects h2, but cluster %q speaks HTTP/1", c.GetName()),
				Notes:   []string{"Envoy sends HTTP/1 requests whatever the server has selected, and the server closes the connection"},
				Help:    "remove alpn_protocols, or replace the protocol of the cluster by auto_config in its HttpProtocolOptions",
				Fixes:   lint.Remove(at.Field("common_tls_context", "alpn_protocols")).Likely("do not offer h2"),
			})
		})
	}),
})
