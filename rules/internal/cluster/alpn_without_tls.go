package cluster

import (
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "alpn-without-tls",
	Severity: lint.Error,
	Summary:  "a cluster negotiates its protocol over a connection without ALPN, or uses HTTP/3 without QUIC",
	Links: []string{
		"ClusterImplBase::ClusterImplBase (source/common/upstream/upstream_impl.cc)",
		"validateTransportSocketSupportsQuic (source/common/upstream/upstream_impl.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		h, _ := envoy.UpstreamHTTPOf(at, c)
		if h.Typed.GetAutoConfig() != nil {
			checkALPN(p, at, h, c)
		}
		for i, check := range c.GetHealthChecks() {
			if check.GetHttpHealthCheck().GetUseAlpnProtocol() {
				checkProbe(p, at.Item("health_checks", i).Field("http_health_check", "use_alpn_protocol"), at, c)
			}
		}
		for _, field := range []struct {
			name string
			set  bool
		}{
			{"explicit_http_config", h.Typed.GetExplicitHttpConfig().GetHttp3ProtocolOptions() != nil},
			{"use_downstream_protocol_config", h.Typed.GetUseDownstreamProtocolConfig().GetHttp3ProtocolOptions() != nil},
			{"auto_config", h.Typed.GetAutoConfig().GetHttp3ProtocolOptions() != nil},
		} {
			if field.set && !quic(at, c.GetTransportSocket()) {
				p.Reject(h.At.Field(field.name, "http3_protocol_options").Key(), lint.Rejection{
					Message:  "HTTP/3 needs a QUIC transport socket",
					Help:     "add a transport_socket with the name envoy.transport_sockets.quic",
					Upstream: "HTTP3 requires a QuicUpstreamTransport transport socket",
				})
			}
		}
	}),
})

func checkALPN(p *lint.Pass, at lint.At, h envoy.UpstreamHTTP, c *clusterv3.Cluster) {
	const help = "use TLS, or replace auto_config by explicit_http_config"
	if what := lacksALPN(at.Field("transport_socket"), c.GetTransportSocket()); what != "" {
		p.Reject(h.At.Field("auto_config").Key(), lint.Rejection{
			Message:  fmt.Sprintf("auto_config negotiates the protocol by ALPN, but %s does not support it", what),
			Help:     help,
			Upstream: "ALPN configured for cluster which has a non-ALPN transport socket",
		})
		return
	}
	if unchecked(p) {
		return
	}
	for i, match := range c.GetTransportSocketMatches() {
		at := at.Item("transport_socket_matches", i).Field("transport_socket")
		if what := lacksALPN(at, match.GetTransportSocket()); what != "" {
			p.Reject(at, lint.Rejection{
				Message:  fmt.Sprintf("auto_config negotiates the protocol by ALPN, but %s does not support it", what),
				Help:     help,
				Upstream: "ALPN configured for cluster which has a non-ALPN transport socket matcher",
			})
		}
	}
}

// checkProbe reports a health check that negotiates its protocol by ALPN if a transport socket of the cluster does not support it.
func checkProbe(p *lint.Pass, where, at lint.At, c *clusterv3.Cluster) {
	what := lacksALPN(at.Field("transport_socket"), c.GetTransportSocket())
	for i, match := range c.GetTransportSocketMatches() {
		if what == "" {
			what = lacksALPN(at.Item("transport_socket_matches", i).Field("transport_socket"), match.GetTransportSocket())
		}
	}
	if what != "" {
		p.Reject(where.Key(), lint.Rejection{
			Message: fmt.Sprintf("the health check negotiates its protocol by ALPN, but %s does not support it", what),
			Help:    "use TLS, or select the protocol with codec_client_type",
			Upstream: fmt.Sprintf("use_alpn_protocol configured for the health check of cluster %s which has a non-ALPN transport socket",
				c.GetName()),
		})
	}
}

// unchecked reports whether the bootstrap disables the check of transport_socket_matches.
func unchecked(p *lint.Pass) bool {
	b, _ := p.Snapshot.Bootstrap()
	return strings.Contains(b.GetLayeredRuntime().String(), "do_not_validate_alpn_support")
}

// lacksALPN returns the name of a transport socket that is known not to support ALPN, or "".
func lacksALPN(at lint.At, s *corev3.TransportSocket) string {
	if s == nil {
		return "a cluster without transport_socket"
	}
	m, at := envoy.Content(at.Field("typed_config"), s.GetTypedConfig())
	if m == nil {
		if s.GetName() == "envoy.transport_sockets.raw_buffer" && s.GetTypedConfig() == nil {
			return "the raw buffer"
		}
		return ""
	}
	fields := m.ProtoReflect().Descriptor().Fields()
	switch m.ProtoReflect().Descriptor().FullName() {
	case "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer":
		return "the raw buffer"
	case "envoy.extensions.transport_sockets.starttls.v3.UpstreamStartTlsConfig":
		return "STARTTLS"
	case "envoy.extensions.transport_sockets.alts.v3.Alts":
		return "ALTS"
	case "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport",
		"envoy.extensions.transport_sockets.tcp_stats.v3.Config",
		"envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport",
		"envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport":
		if inner := innerSocket(m.ProtoReflect(), fields); inner != nil {
			return lacksALPN(at.Field("transport_socket"), inner)
		}
	}
	return ""
}

func innerSocket(m protoreflect.Message, fields protoreflect.FieldDescriptors) *corev3.TransportSocket {
	fd := fields.ByName("transport_socket")
	if fd == nil || !m.Has(fd) {
		return nil
	}
	inner, _ := m.Get(fd).Message().Interface().(*corev3.TransportSocket)
	return inner
}

// quic follows validateTransportSocketSupportsQuic. It returns true for an unknown transport socket.
func quic(at lint.At, s *corev3.TransportSocket) bool {
	switch s.GetName() {
	case "envoy.transport_sockets.quic":
		return true
	case "envoy.transport_sockets.http_11_proxy":
		m, _ := envoy.Content(at, s.GetTypedConfig())
		if m == nil {
			return true
		}
		return innerSocket(m.ProtoReflect(), m.ProtoReflect().Descriptor().Fields()).GetName() == "envoy.transport_sockets.quic"
	}
	return false
}
