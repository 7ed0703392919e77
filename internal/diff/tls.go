package diff

import (
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	quicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/quic/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// material is certificates, or what verifies them. It has a name for people, and an identity of its content.
type material struct {
	values, exact []string
	unknown       bool // a secret that is not given
}

func (m *material) add(value, exact string) {
	m.values, m.exact = append(m.values, value), append(m.exact, exact)
}

// secret resolves the secret that an SDS configuration names. The content is never shown.
func (s *side) secret(h held, c *tlsv3.SdsSecretConfig, into *material, content func(*tlsv3.Secret) proto.Message) {
	value := fmt.Sprintf("secret %q", c.GetName())
	from := graph.SourceOf(c.GetSdsConfig(), h.in.Source)
	r := s.find(graph.Secret, from, c.GetName())
	if r == nil {
		into.unknown = true
		into.add(value, "secret "+c.GetName())
		return
	}
	m, _ := r.Message.(*tlsv3.Secret)
	digest := held{r, content(m)}.digest()
	if digest == "" { // a secret of another kind
		digest = held{r, m}.digest()
	}
	into.add(value, digest)
}

func (s *side) certificates(h held, m *tlsv3.CommonTlsContext) *material {
	all := &material{}
	for _, c := range m.GetTlsCertificates() {
		value := "inline certificate"
		if name := c.GetCertificateChain().GetFilename(); name != "" {
			value = "certificate " + name
		}
		all.add(value, h.with(public(c)).digest())
	}
	for _, c := range m.GetTlsCertificateSdsSecretConfigs() {
		s.secret(h, c, all, func(secret *tlsv3.Secret) proto.Message { return public(secret.GetTlsCertificate()) })
	}
	return all
}

// public returns a certificate without an inline private key: the certificate identifies it, and a config_dump does not contain the key.
func public(c *tlsv3.TlsCertificate) *tlsv3.TlsCertificate {
	if c == nil {
		return nil
	}
	c = proto.CloneOf(c)
	for _, source := range []**corev3.DataSource{&c.PrivateKey, &c.Password, &c.Pkcs12} {
		if (*source).GetFilename() == "" && (*source).GetEnvironmentVariable() == "" && c.GetCertificateChain() != nil {
			*source = nil
		}
	}
	return c
}

// validation describes how the peer's certificates are verified.
func (s *side) validation(h held, m *tlsv3.CommonTlsContext) *material {
	all := &material{}
	content := func(secret *tlsv3.Secret) proto.Message { return secret.GetValidationContext() }
	inline := m.GetValidationContext()
	if combined := m.GetCombinedValidationContext(); combined != nil {
		inline = combined.GetDefaultValidationContext()
		s.secret(h, combined.GetValidationContextSdsSecretConfig(), all, content)
		all.exact = append(all.exact, h.with(inline).digest())
		return all
	}
	if c := m.GetValidationContextSdsSecretConfig(); c != nil {
		s.secret(h, c, all, content)
		return all
	}
	ca := inline.GetTrustedCa()
	switch {
	case ca.GetFilename() != "":
		all.add(ca.GetFilename(), h.with(inline).digest())
	case ca != nil:
		all.add("an inline CA", h.with(inline).digest())
	case inline.GetSystemRootCerts() != nil:
		all.add("the system's CAs", h.with(inline).digest())
	case inline.GetCaCertificateProviderInstance() != nil:
		all.add("a CA of a provider", h.with(inline).digest())
	case inline != nil:
		all.exact = append(all.exact, h.with(inline).digest())
	}
	return all
}

// modelled are the fields of TLS contexts that separate facts cover.
var modelled = fields{
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.tls_certificates":                     true,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.tls_certificate_sds_secret_configs":   true,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.validation_context":                   true,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.validation_context_sds_secret_config": true,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.combined_validation_context":          true,
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.alpn_protocols":                       true,
	"envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext.sni":                                true,
	"envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext.require_client_certificate":       true,
}

func (s *side) downstreamTLS(w Where, h held, socket *corev3.TransportSocket) {
	config := h.open(socket.GetTypedConfig())
	kind := "TLS"
	var m *tlsv3.DownstreamTlsContext
	switch c := config.message.(type) {
	case *tlsv3.DownstreamTlsContext:
		m = c
	case *quicv3.QuicDownstreamTransport:
		kind, m = "QUIC", c.GetDownstreamTlsContext()
	default:
		s.otherSocket(w, h, socket)
		return
	}
	s.add(&fact{where: w, what: "TLS", value: kind})
	s.add(&fact{where: w, what: "TLS settings", message: config, part: true, skip: modelled})
	common := m.GetCommonTlsContext()
	s.addMaterial(w, "certificate", "none", s.certificates(config, common))
	s.addMaterial(w, "client certificate verified with", "nothing", s.validation(config, common))
	required := map[bool]string{true: "required", false: "not required"}[m.GetRequireClientCertificate().GetValue()]
	s.add(&fact{where: w, what: "client certificate", value: required, part: true})
	s.add(&fact{where: w, what: "ALPN", value: orNone(strings.Join(common.GetAlpnProtocols(), ", ")), part: true})
}

func (s *side) addMaterial(w Where, what, none string, m *material) {
	value := strings.Join(m.values, ", ")
	if value == "" {
		value = none
	}
	s.add(&fact{where: w, what: what, value: value, exact: "exactly " + strings.Join(m.exact, "\n"), unknown: m.unknown, part: true})
}

// otherSocket adds a transport socket without TLS, or one that is compared field by field.
func (s *side) otherSocket(w Where, h held, socket *corev3.TransportSocket) {
	if socket == nil || isRaw(socket) {
		s.add(&fact{where: w, what: "TLS", value: "none"})
		return
	}
	name := socket.GetName()
	if short(name) == "tls" {
		name = "TLS"
	}
	s.add(&fact{where: w, what: "TLS", value: short(name), exact: "socket " + short(name)})
	s.add(&fact{where: w, what: "TLS settings", message: h.with(socket.GetTypedConfig()), part: true})
}

func isRaw(socket *corev3.TransportSocket) bool {
	url := socket.GetTypedConfig().GetTypeUrl()
	return strings.HasSuffix(url, "/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer")
}

func (s *side) upstreamTLS(w Where, h held, socket *corev3.TransportSocket) {
	config := h.open(socket.GetTypedConfig())
	var m *tlsv3.UpstreamTlsContext
	switch c := config.message.(type) {
	case *tlsv3.UpstreamTlsContext:
		m = c
	case *quicv3.QuicUpstreamTransport:
		m = c.GetUpstreamTlsContext()
	default:
		s.otherSocket(w, h, socket)
		return
	}
	common := m.GetCommonTlsContext()
	certificates, validation := s.certificates(config, common), s.validation(config, common)
	values := []string{"no SNI", "not verified"}
	if m.GetSni() != "" {
		values[0] = "SNI " + m.GetSni()
	}
	if len(validation.values) > 0 {
		values[1] = "verified with " + strings.Join(validation.values, ", ")
	}
	if len(certificates.values) > 0 {
		values = append(values, "shows "+strings.Join(certificates.values, ", "))
	}
	s.add(&fact{
		where: w, what: "TLS", value: strings.Join(values, ", "), unknown: certificates.unknown || validation.unknown,
		exact: strings.Join(slices.Concat([]string{m.GetSni(), ""}, certificates.exact, []string{""}, validation.exact), "\n"),
	})
	s.add(&fact{where: w, what: "ALPN", value: orNone(strings.Join(common.GetAlpnProtocols(), ", ")), part: true})
	s.add(&fact{where: w, what: "TLS settings", message: config, part: true, skip: modelled})
}
