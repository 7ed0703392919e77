package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "tcp-proxy-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a TCP or UDP proxy sends to a cluster that does not exist",
	Links: []string{
		"TcpProxy::Filter::establishUpstreamConnection (source/common/tcp_proxy/tcp_proxy.cc)",
		"UdpProxyFilter::getClusterInfo (source/extensions/filters/udp/udp_proxy/udp_proxy_filter.cc)",
	},
	Run: clusterRule(envoy.ProxiedCluster, "Envoy accepts it and closes every connection"),
})
