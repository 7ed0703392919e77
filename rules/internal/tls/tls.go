// Package tls holds the rules about TLS: versions, ALPN, and which certificates of a peer are accepted.
package tls

import (
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "tls", Summary: "TLS: versions, ALPN, and which certificates of a peer are accepted", Family: dataplane.Envoy}

// offers reports whether a context offers a protocol by ALPN. Envoy joins the values of alpn_protocols, so one can hold several.
func offers(c *tlsv3.CommonTlsContext, protocol string) bool {
	return slices.Contains(strings.Split(strings.Join(c.GetAlpnProtocols(), ","), ","), protocol)
}

// upstream is a TLS context of a cluster.
type upstream struct {
	*tlsv3.UpstreamTlsContext
	cluster *clusterv3.Cluster
	http    envoy.UpstreamHTTP
}

// eachUpstream calls f for the TLS contexts of clusters, but not for a default one that no endpoint needs.
func eachUpstream(f func(p *lint.Pass, at lint.At, u upstream)) lint.Check {
	return each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		http, ok := envoy.UpstreamHTTPOf(at, c)
		if !ok {
			return
		}
		envoy.EachUsedSocket(at, c, func(at graph.At, m proto.Message) {
			if context, ok := m.(*tlsv3.UpstreamTlsContext); ok {
				f(p, at, upstream{context, c, http})
			}
		})
	})
}

// sendsName reports whether Envoy sends a server name (SNI) to the servers (ClientContextImpl::newSsl).
func (u upstream) sendsName() bool {
	return u.GetSni() != "" || u.takesName()
}

// takesName reports whether Envoy takes the server name from the endpoint or from each request, instead of sni.
func (u upstream) takesName() bool {
	return u.GetAutoHostSni() || u.http.Upstream(u.cluster).GetAutoSni()
}
