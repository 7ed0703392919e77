package grpc

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	proxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/http_11_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
)

const (
	tlsSocket      = "envoy.transport_sockets.tls"
	upstreamType   = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"
	downstreamType = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
	proxyType      = "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport"
	providers      = "write ca_certificate_provider_instance, with the name of a certificate provider of the bootstrap"
)

// ClusterTLS checks the transport socket of a cluster (securityConfigFromCluster, gRFC A29).
func (c Client) ClusterTLS(at graph.At, cluster *clusterv3.Cluster) []Fault {
	if len(cluster.GetTransportSocketMatches()) > 0 && !c.is(Core) {
		return rejected(at.Field("transport_socket_matches"), "gRPC does not choose between transport sockets", "unsupported transport_socket_matches field is non-empty", "write one transport_socket")
	}
	socket, at := cluster.GetTransportSocket(), at.Field("transport_socket")
	if socket != nil && c.enabled(httpConnect, false) && typeName(socket.GetTypedConfig()) == proxyType {
		if proxy, ok := content[*proxyv3.Http11ProxyUpstreamTransport](at.Field("typed_config"), socket.GetTypedConfig()); ok {
			socket, at = proxy.GetTransportSocket(), at.Field("typed_config", "transport_socket")
		}
	}
	if socket == nil {
		return nil
	}
	if faults := c.socket(at, socket, upstreamType); faults != nil {
		return faults
	}
	at = at.Field("typed_config")
	m, ok := content[*tlsv3.UpstreamTlsContext](at, socket.GetTypedConfig())
	if !ok {
		return nil // it could not be decoded
	}
	if len(m.GetSni()) > 255 && c.enabled(sni, false) {
		return rejected(at.Field("sni"), "sni is longer than 255 characters", "exceeds max length of 255", "write a shorter name")
	}
	if m.GetCommonTlsContext() == nil {
		return rejected(at, "the TLS context has no common_tls_context", "does not contain a CommonTlsContext", providers)
	}
	return c.common(at.Field("common_tls_context"), m.GetCommonTlsContext(), false)
}

// ChainTLS checks the transport sockets of the filter chains that a server keeps (filterChainFromProto, gRFC A29).
func (c Client) ChainTLS(at graph.At, l *listenerv3.Listener) (all []Fault) {
	for _, chain := range c.chains(at, l) {
		all = append(all, c.chainTLS(chain)...)
	}
	return all
}

func (c Client) chainTLS(chain filterChain) []Fault {
	socket, at := chain.config.GetTransportSocket(), chain.at.Field("transport_socket")
	if socket == nil {
		return nil
	}
	if faults := c.socket(at, socket, downstreamType); faults != nil {
		return faults
	}
	at = at.Field("typed_config")
	m, ok := content[*tlsv3.DownstreamTlsContext](at, socket.GetTypedConfig())
	if !ok {
		return nil
	}
	switch common := m.GetCommonTlsContext(); {
	case m.GetRequireSni().GetValue(), m.GetRequireSni() != nil && c.is(Java):
		return rejected(at.Field("require_sni"), "gRPC does not support require_sni", "require_sni field set to true", "remove it")
	case m.GetOcspStaplePolicy() != tlsv3.DownstreamTlsContext_LENIENT_STAPLING:
		return rejected(at.Field("ocsp_staple_policy"), "gRPC does not staple OCSP responses", "ocsp_staple_policy field set to unsupported value", "remove it")
	case common == nil:
		return rejected(at, "the TLS context has no common_tls_context", "does not contain a CommonTlsContext", "write tls_certificate_provider_instance, with the name of a certificate provider of the bootstrap")
	default:
		at := at.Field("common_tls_context")
		all := c.common(at, common, true)
		if len(all) == 0 && m.GetRequireClientCertificate().GetValue() && c.is(Go, Core) && rootOf(common).GetInstanceName() == "" {
			return rejected(at, "the server asks for client certificates, but has no certificate provider to verify them", "does not contain root certificate provider instance name", providers)
		}
		return all
	}
}

// socket checks the name and the type of a transport socket. Core looks only at the type.
func (c Client) socket(at graph.At, s *corev3.TransportSocket, wanted string) []Fault {
	const help = "write the name envoy.transport_sockets.tls"
	switch name, kind := s.GetName(), typeName(s.GetTypedConfig()); {
	case name != tlsSocket && !c.is(Core):
		where, message := at, "the transport socket has no name"
		if name != "" {
			where, message = at.Field("name"), fmt.Sprintf("gRPC does not support the transport socket %s", name)
		}
		return rejected(where, message, "transport_socket field has unexpected name", help)
	case kind == "":
		return rejected(at, "the transport socket has no typed_config", "transport_socket missing typed_config or wrong type_url", `write "@type": type.googleapis.com/`+wanted)
	case kind != wanted:
		return rejected(at.Field("typed_config"), fmt.Sprintf("the configuration of the transport socket is a %s", kind), "transport_socket missing typed_config or wrong type_url", `write "@type": type.googleapis.com/`+wanted)
	}
	return nil
}

// common checks where certificates come from (securityConfigFromCommonTLSContext): from the current fields, or, if these give nothing, from the
// deprecated ones.
func (c Client) common(at graph.At, m *tlsv3.CommonTlsContext, server bool) []Fault {
	switch {
	case m.GetTlsParams() != nil:
		return rejected(at.Field("tls_params"), "gRPC does not support tls_params", "unsupported tls_params field in CommonTlsContext message", "remove it")
	case m.GetCustomHandshaker() != nil:
		return rejected(at.Field("custom_handshaker"), "gRPC does not support custom_handshaker", "unsupported custom_handshaker field in CommonTlsContext message", "remove it")
	}
	faults, found := c.current(at, m, server)
	if faults == nil && found {
		return c.complete(at, m.GetTlsCertificateProviderInstance().GetInstanceName(), rootOf(m).GetInstanceName(), c.systemRoots(m, server), server)
	}
	old, identity, root := c.deprecated(at, m, server)
	if old != nil {
		if faults != nil {
			return faults
		}
		return old
	}
	if incomplete := c.complete(at, identity, root, false, server); incomplete == nil || faults == nil {
		return incomplete
	}
	return faults
}

// complete checks that a server has a certificate of its own, and a client something to verify its servers with.
func (c Client) complete(at graph.At, identity, root string, system, server bool) []Fault {
	switch {
	case server && identity == "":
		return rejected(at, "the server has no certificate provider for its own certificate", "does not contain identity certificate provider instance name",
			"write tls_certificate_provider_instance, with the name of a certificate provider of the bootstrap: gRPC does not read tls_certificates, nor SDS")
	case !server && root == "" && !system:
		return rejected(at, "the client has no certificate provider to verify servers with", "does not contain root certificate provider instance name", providers+": gRPC does not read trusted_ca, nor SDS")
	}
	return nil
}

// validation returns the context that says how to verify a peer, if it is in one of the current fields.
func validation(m *tlsv3.CommonTlsContext) *tlsv3.CertificateValidationContext {
	if v := m.GetValidationContext(); v != nil {
		return v
	}
	return m.GetCombinedValidationContext().GetDefaultValidationContext()
}

// provider is what both messages that name a certificate provider have.
type provider interface{ GetInstanceName() string }

// rootOf returns the provider of the certificates that verify a peer.
func rootOf(m *tlsv3.CommonTlsContext) provider {
	if p := validation(m).GetCaCertificateProviderInstance(); p != nil {
		return p
	}
	if p := m.GetCombinedValidationContext().GetValidationContextCertificateProviderInstance(); p != nil { //nolint:staticcheck // deprecated, and in use
		return p
	}
	return m.GetValidationContextCertificateProviderInstance() //nolint:staticcheck // deprecated, and in use
}

// systemRoots reports whether a client verifies servers with the certificates of its system (gRFC A82).
func (c Client) systemRoots(m *tlsv3.CommonTlsContext, server bool) bool {
	v := validation(m)
	return !server && c.enabled(systemRootCerts, !c.is(Go)) && v.GetSystemRootCerts() != nil && v.GetCaCertificateProviderInstance() == nil
}

// current reads the current fields (securityConfigFromCommonTLSContextUsingNewFields). found is false if they say nothing.
func (c Client) current(at graph.At, m *tlsv3.CommonTlsContext, server bool) (faults []Fault, found bool) {
	identity := m.GetTlsCertificateProviderInstance()
	switch {
	case identity == nil && len(m.GetTlsCertificates()) > 0:
		return rejected(at.Field("tls_certificates"), "gRPC does not read certificates from tls_certificates", "unsupported field tls_certificates is set", "write tls_certificate_provider_instance, with the name of a certificate provider of the bootstrap"), false
	case identity == nil && m.GetTlsCertificateSdsSecretConfigs() != nil:
		return rejected(at.Field("tls_certificate_sds_secret_configs"), "gRPC does not get certificates over SDS", "unsupported field tls_certificate_sds_secret_configs is set", "write tls_certificate_provider_instance, with the name of a certificate provider of the bootstrap"), false
	}
	switch m.GetValidationContextType().(type) {
	case nil:
		return nil, identity.GetInstanceName() != "" || identity.GetCertificateName() != ""
	case *tlsv3.CommonTlsContext_ValidationContext:
		at = at.Field("validation_context")
	case *tlsv3.CommonTlsContext_CombinedValidationContext:
		at = at.Field("combined_validation_context", "default_validation_context")
	default:
		field := chosen(m, "validation_context_type")
		return rejected(at.Field(field), "gRPC does not read "+field, "validation context contains unexpected type", providers), false
	}
	if faults := c.verification(at, m, server); faults != nil {
		return faults, false
	}
	root := validation(m).GetCaCertificateProviderInstance()
	return nil, identity.GetInstanceName()+identity.GetCertificateName()+root.GetInstanceName()+root.GetCertificateName() != "" || c.systemRoots(m, server) ||
		len(validation(m).GetMatchSubjectAltNames()) > 0 //nolint:staticcheck // deprecated, and the only one that gRPC reads
}

// verification checks a validation context.
func (c Client) verification(at graph.At, m *tlsv3.CommonTlsContext, server bool) (all []Fault) {
	v := validation(m)
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"verify_certificate_spki", len(v.GetVerifyCertificateSpki()) > 0},
		{"verify_certificate_hash", len(v.GetVerifyCertificateHash()) > 0},
		{"require_signed_certificate_timestamp", v.GetRequireSignedCertificateTimestamp().GetValue() || v.GetRequireSignedCertificateTimestamp() != nil && c.is(Java)},
		{"crl", v.GetCrl() != nil},
		{"custom_validator_config", v.GetCustomValidatorConfig() != nil},
	} {
		if field.set {
			all = append(all, rejected(at.Field(field.name), "gRPC does not support "+field.name, "unsupported "+field.name+" field in CommonTlsContext message", "remove it")...)
		}
	}
	if v.GetCaCertificateProviderInstance() == nil && !c.systemRoots(m, server) {
		all = append(all, rejected(at, "the validation context has no certificate provider", "expected field ca_certificate_provider_instance is missing", providers+": gRPC does not read trusted_ca, nor SDS")...)
	}
	return append(all, c.names(at, v, server)...)
}

// names checks the matchers of subject alternative names.
func (c Client) names(at graph.At, v *tlsv3.CertificateValidationContext, server bool) (all []Fault) {
	matchers := v.GetMatchSubjectAltNames() //nolint:staticcheck // deprecated, and the only one that gRPC reads
	if server && len(matchers) > 0 {
		return rejected(at.Field("match_subject_alt_names"), "gRPC does not match the names of client certificates", "match_subject_alt_names field in validation context is not supported on the server", "authorize clients with RBAC")
	}
	for i, m := range matchers {
		all = append(all, c.text(at.Item("match_subject_alt_names", i), m)...)
	}
	return all
}

// deprecated reads the deprecated fields (securityConfigFromCommonTLSContextWithDeprecatedFields).
func (c Client) deprecated(at graph.At, m *tlsv3.CommonTlsContext, server bool) (faults []Fault, identity, root string) {
	identity = m.GetTlsCertificateCertificateProviderInstance().GetInstanceName() //nolint:staticcheck // deprecated, and in use
	switch v := m.GetValidationContextType().(type) {
	case nil:
	case *tlsv3.CommonTlsContext_CombinedValidationContext:
		at := at.Field("combined_validation_context", "default_validation_context")
		faults = c.names(at, v.CombinedValidationContext.GetDefaultValidationContext(), server)
		root = v.CombinedValidationContext.GetValidationContextCertificateProviderInstance().GetInstanceName() //nolint:staticcheck // deprecated, and in use
	case *tlsv3.CommonTlsContext_ValidationContextCertificateProviderInstance: //nolint:staticcheck // deprecated, and in use
		root = v.ValidationContextCertificateProviderInstance.GetInstanceName()
	default:
		field := chosen(m, "validation_context_type")
		faults = rejected(at.Field(field), "gRPC does not read "+field, "validation context contains unexpected type", providers)
	}
	return faults, identity, root
}

// NamesUnverified reports names of servers that gRPC does not verify although the context says so (gRFCs A29 and A101).
func (c Client) NamesUnverified(at graph.At, cluster *clusterv3.Cluster) []Fault {
	at = at.Field("transport_socket", "typed_config")
	m, ok := content[*tlsv3.UpstreamTlsContext](at, cluster.GetTransportSocket().GetTypedConfig())
	v := validation(m.GetCommonTlsContext())
	if !ok || len(v.GetMatchSubjectAltNames()) > 0 { //nolint:staticcheck // deprecated, and the only one that gRPC reads
		return nil
	}
	unread := func(at graph.At, field string) []Fault {
		return accepted(at.Field(field), Ignores, "gRPC does not read "+field, "accepts every server with a certificate of the authority", "write match_subject_alt_names")
	}
	if m.GetAutoSniSanValidation() && c.is(Go) && !c.enabled(sni, false) {
		return unread(at, "auto_sni_san_validation")
	}
	if len(v.GetMatchTypedSubjectAltNames()) == 0 {
		return nil
	}
	if at = at.Field("common_tls_context"); m.GetCommonTlsContext().GetValidationContext() != nil {
		at = at.Field("validation_context")
	} else {
		at = at.Field("combined_validation_context", "default_validation_context")
	}
	return unread(at, "match_typed_subject_alt_names")
}
