package endpoint

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "socket-match-none",
	Severity: lint.Warning,
	Summary:  "an endpoint asks for a transport socket by its metadata, and no transport_socket_match has the same",
	Links: []string{
		"TransportSocketMatcherImpl::resolve (source/common/upstream/transport_socket_match_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/cluster.proto#config-cluster-v3-cluster-transportsocketmatch",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		for i, l := range a.GetEndpoints() {
			for j, e := range l.GetLbEndpoints() {
				asks := len(e.GetMetadata().GetFilterMetadata()[envoy.SocketMatchKey].GetFields()) > 0
				unmatched := func(c *clusterv3.Cluster) bool {
					return len(c.GetTransportSocketMatches()) > 0 && c.GetTransportSocketMatcher() == nil && envoy.UsesDefaultSocket(c, l, e)
				}
				if asks && everyCluster(p, at, unmatched) {
					own := at.Item("endpoints", i).Item("lb_endpoints", j).Field("metadata")
					p.Report(own.Entry("filter_metadata", envoy.SocketMatchKey), lint.Diagnostic{
						Message: "no entry of transport_socket_matches fits this metadata",
						Notes:   []string{"Envoy connects by the transport_socket of the cluster then, and in plain text if there is none"},
						Help:    `write what the match has, with the same types: the text "true" is not the value true`,
					})
				}
			}
		}
	}),
})
