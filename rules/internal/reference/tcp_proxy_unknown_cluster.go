package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "tcp-proxy-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a TCP or UDP proxy sends to a cluster that does not exist",
	Why: `Unlike the routes of HTTP, Envoy never checks this name when it loads the configuration, not even in a bootstrap without any CDS. It looks
the cluster up for every connection, and closes the connection at once (the counter ` + "`tcp.<stat_prefix>.downstream_cx_no_route`" + ` rises). The UDP proxy
drops the datagrams.

With ` + "`on_demand`" + ` the cluster is fetched when it is first needed: then its absence is no mistake.`,
	Links: []string{"TcpProxy::Filter::establishUpstreamConnection (source/common/tcp_proxy/tcp_proxy.cc)", "UdpProxyFilter::getClusterInfo (source/extensions/filters/udp/udp_proxy/udp_proxy_filter.cc)"},
	Run:   clusterRule(envoy.ProxiedCluster, "envoy accepts it and closes every connection"),
})
