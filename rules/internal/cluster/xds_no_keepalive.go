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
	Name:     "xds-no-keepalive",
	Severity: lint.Info,
	Summary:  "the connection to a config server has no keepalive, so Envoy does not notice when it is lost",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/protocol.proto#config-core-v3-keepalivesettings",
		"https://github.com/envoyproxy/envoy/issues/6323",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		http, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok || !http.HTTP2(c) || keepsAlive(http, c) || !slices.ContainsFunc(p.Snapshot.To(at.Resource()), envoy.Subscribes) {
			return
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("Envoy does not notice when the connection to the config server %q is lost", c.GetName()),
			Notes: []string{
				"on this connection, Envoy only waits for updates: if a firewall or a machine drops it without a reset, Envoy keeps an old configuration",
			},
			Help: "add connection_keepalive to the http2_protocol_options, or tcp_keepalive to upstream_connection_options",
		}
		if c.GetUpstreamConnectionOptions() == nil {
			d.Fixes = lint.Insert(at, "upstream_connection_options", tcpKeepalive).Likely("let the system check the connection")
		}
		p.Report(at.Field("name"), d)
	}),
})

// tcpKeepalive finds a lost connection after a minute and a half. Every server answers it, which is not certain for PING frames of HTTP/2.
var tcpKeepalive = lint.Fields{{Name: "tcp_keepalive", Value: lint.Fields{
	{Name: "keepalive_time", Value: 60}, {Name: "keepalive_interval", Value: 10}, {Name: "keepalive_probes", Value: 3},
}}}

// keepsAlive reports whether a cluster checks its connections while they are idle.
func keepsAlive(h envoy.UpstreamHTTP, c *clusterv3.Cluster) bool {
	return h.HTTP2Options(c).GetConnectionKeepalive() != nil || c.GetUpstreamConnectionOptions().GetTcpKeepalive() != nil
}
