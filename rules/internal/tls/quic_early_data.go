package tls

import (
	quicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/quic/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "quic-early-data",
	Severity: lint.Error,
	Summary:  "a QUIC listener with a validation context enables early data",
	Links:    []string{"QuicServerTransportSocketFactory (source/common/quic/quic_server_transport_socket_factory.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *tlsv3.DownstreamTlsContext) {
		quic, holder := graph.Around[*quicv3.QuicDownstreamTransport](at.Place)
		u, ok := useAround(p, at.Place)
		if !ok || holder == nil || !quic.GetEnableEarlyData().GetValue() || p.Target.Before("1.40") {
			return
		}
		if v, known := validationOf(p, u.common); known && v != nil {
			p.Reject(holder.At().Field("enable_early_data"), lint.Rejection{
				Message:  "early data needs sessions to resume, and with a validation context there are none",
				Help:     "remove enable_early_data, or the validation context",
				Upstream: "QUIC early data is enabled but resumption is disabled. Early data requires resumption.",
			})
		}
	}),
})
