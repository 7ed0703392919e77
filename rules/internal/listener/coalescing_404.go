package listener

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "coalescing-404",
	Severity: lint.Warning,
	Summary:  "filter chains with one certificate have different virtual hosts, and a connection of one gets requests for the other",
	Links: []string{
		"https://www.rfc-editor.org/rfc/rfc9113#name-connection-reuse",
		"https://github.com/envoyproxy/envoy/issues/6767",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		var order []sharing
		shared := map[sharing][]tenant{}
		for _, m := range all {
			s, by := tenantOf(m)
			if by.certificate == "" {
				continue
			}
			if shared[by] == nil {
				order = append(order, by)
			}
			shared[by] = append(shared[by], s)
		}
		for _, by := range order {
			reportCoalescing(p, shared[by])
		}
	}),
})

// sharing is what connections for several hosts have in common: clients of HTTP/2 use one connection for all of them.
type sharing struct {
	listener    *graph.Resource
	certificate string
}

// tenant is a filter chain that serves the hosts of its server names.
type tenant struct {
	at    lint.At // the names
	names []string
	hosts *match.Domains[bool]
	table *envoy.RouteTable
}

// tenantOf returns the tenant that a connection manager is, and an empty certificate if it is not one whose hosts and certificates are known.
func tenantOf(m managers.Manager) (s tenant, by sharing) {
	c, where := graph.Around[*listenerv3.FilterChain](m.At.Place)
	names := c.GetFilterChainMatch().GetServerNames()
	if !proto.Equal(&listenerv3.FilterChainMatch{ServerNames: names, TransportProtocol: c.GetFilterChainMatch().GetTransportProtocol()}, c.GetFilterChainMatch()) {
		return s, by // its connections can have other addresses
	}
	socket, _ := envoy.Content(where.At().Field("transport_socket", "typed_config"), c.GetTransportSocket().GetTypedConfig())
	context, ok := socket.(*tlsv3.DownstreamTlsContext)
	tls := context.GetCommonTlsContext()
	if !ok || !m.Routes.Known || len(m.Routes.Tables) != 1 || m.Message.GetCodecType() == hcmv3.HttpConnectionManager_HTTP1 || !slices.Contains(tls.GetAlpnProtocols(), "h2") {
		return s, by
	}
	if context.GetRequireClientCertificate().GetValue() {
		return s, by // clients may be proxies of a mesh, whose certificates do not have the hosts
	}
	s.at = where.At().Field("filter_chain_match", "server_names")
	s.table, s.hosts = m.Routes.Tables[0], &match.Domains[bool]{}
	for _, name := range names {
		if !strings.HasPrefix(name, "*") {
			s.names = append(s.names, name)
		}
	}
	for _, l := range s.table.Levels {
		if l.Host != nil && l.Route == nil {
			for _, domain := range l.Host.GetDomains() {
				s.hosts.Add(domain, true)
			}
		}
	}
	return s, sharing{where.Resource, certificateOf(tls)}
}

// certificateOf returns a text that is the same for the same certificate, or nothing if there are several, or another way to select them.
func certificateOf(tls *tlsv3.CommonTlsContext) string {
	secrets, certificates := tls.GetTlsCertificateSdsSecretConfigs(), tls.GetTlsCertificates()
	switch {
	case len(secrets) == 1 && len(certificates) == 0:
		return "secret " + secrets[0].GetName()
	case len(certificates) == 1 && len(secrets) == 0 && certificates[0].GetCertificateChain() != nil:
		return sourceOf(certificates[0].GetCertificateChain())
	}
	return ""
}

func sourceOf(s *corev3.DataSource) string {
	return strings.Join([]string{s.GetFilename(), s.GetInlineString(), string(s.GetInlineBytes()), s.GetEnvironmentVariable()}, "\x00")
}

// reportCoalescing reports a host of one tenant that another one with the same certificate answers with 404.
func reportCoalescing(p *lint.Pass, tenants []tenant) {
	judged := map[*envoy.RouteTable]bool{}
	for _, s := range tenants {
		if judged[s.table] || len(s.names) == 0 || takes(s, "*") {
			continue
		}
		judged[s.table] = true
		for _, other := range tenants {
			i := slices.IndexFunc(other.names, func(name string) bool { return takes(other, name) && !takes(s, name) })
			if other.table == s.table || i < 0 {
				continue
			}
			p.Report(s.at, lint.Diagnostic{
				Message: fmt.Sprintf("a client that is connected for %s can ask for %s over the same connection, and gets 404", s.names[0], other.names[i]),
				Notes: []string{"both filter chains have the same certificate, and browsers use an HTTP/2 connection for all hosts that its certificate has; " +
					"the routes here do not have that host"},
				Help:    `use one route table for the filter chains of a certificate, or answer all other hosts with 421: then clients open a connection of their own`,
				Related: []lint.Related{lint.RelatedTo(other.at, "the filter chain of that host")},
			})
			return
		}
	}
}

// takes reports whether a tenant has a virtual host for a host.
func takes(s tenant, host string) bool {
	_, found := s.hosts.Find(host)
	return found
}
