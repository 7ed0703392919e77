package grpc

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
)

// ClusterProviders checks that the bootstrap declares the certificate providers of a cluster (securityConfigValidator, gRFC A29).
func (c Client) ClusterProviders(at graph.At, cluster *clusterv3.Cluster) []Fault {
	at = at.Field("transport_socket", "typed_config")
	m, ok := content[*tlsv3.UpstreamTlsContext](at, cluster.GetTransportSocket().GetTypedConfig())
	if !ok {
		return nil
	}
	return c.declared(at.Field("common_tls_context"), m.GetCommonTlsContext(), false)
}

// ChainProviders checks the same for the filter chains of a server.
func (c Client) ChainProviders(at graph.At, l *listenerv3.Listener) (all []Fault) {
	for _, chain := range c.chains(at, l) {
		at := chain.at.Field("transport_socket", "typed_config")
		if m, ok := content[*tlsv3.DownstreamTlsContext](at, chain.config.GetTransportSocket().GetTypedConfig()); ok {
			all = append(all, c.declared(at.Field("common_tls_context"), m.GetCommonTlsContext(), true)...)
		}
	}
	return all
}

func (c Client) declared(at graph.At, m *tlsv3.CommonTlsContext, server bool) (all []Fault) {
	if c.Bootstrap == nil {
		return nil
	}
	identity := m.GetTlsCertificateProviderInstance().GetInstanceName()
	if faults, found := c.current(at, m, server); identity == "" && (faults != nil || !found) { // otherwise the old field is not read
		identity = m.GetTlsCertificateCertificateProviderInstance().GetInstanceName() //nolint:staticcheck // deprecated, and in use
	}
	for _, p := range []struct{ of, name string }{{"own certificate", identity}, {"certificates that verify peers", rootOf(m).GetInstanceName()}} {
		if p.name != "" && !c.Bootstrap.Providers[p.name] {
			all = append(all, rejected(at, fmt.Sprintf("the bootstrap does not declare the certificate provider %q of the %s", p.name, p.of), "missing in bootstrap configuration", "declare it in certificate_providers of the bootstrap")...)
		}
	}
	return all
}
