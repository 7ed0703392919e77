package tls

import (
	"fmt"

	quicv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/quic/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "min-above-max",
	Severity: lint.Error,
	Summary:  "the lowest version of TLS is above the highest, so every handshake fails",
	Links: []string{
		"ClientContextConfigImpl::DEFAULT_MAX_VERSION (source/common/tls/client_context_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/9300",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, c *tlsv3.CommonTlsContext) {
		highest, ok := defaultMaximum(at.Place)
		if ok {
			checkVersions(p, at.Field("tls_params"), c.GetTlsParams(), highest)
		}
	}),
})

// defaultMaximum returns the highest version of the connections that a context is for. ok is false for QUIC, which always has TLS 1.3, and where
// the transport socket around the context is not known.
func defaultMaximum(common *graph.Place) (highest tlsv3.TlsParameters_TlsProtocol, ok bool) {
	_, up := graph.Around[*tlsv3.UpstreamTlsContext](common)
	_, down := graph.Around[*tlsv3.DownstreamTlsContext](common)
	_, quicUp := graph.Around[*quicv3.QuicUpstreamTransport](common)
	_, quicDown := graph.Around[*quicv3.QuicDownstreamTransport](common)
	if up != nil {
		return tlsv3.TlsParameters_TLSv1_2, up.Parent != nil && quicUp == nil
	}
	return tlsv3.TlsParameters_TLSv1_3, down != nil && down.Parent != nil && quicDown == nil
}

func checkVersions(p *lint.Pass, at lint.At, params *tlsv3.TlsParameters, highest tlsv3.TlsParameters_TlsProtocol) {
	lowest, field, defaults := tlsv3.TlsParameters_TLSv1_2, "tls_minimum_protocol_version", "both are written here"
	if v := params.GetTlsMinimumProtocolVersion(); v != tlsv3.TlsParameters_TLS_AUTO {
		lowest = v
	} else {
		field, defaults = "tls_maximum_protocol_version", "the lowest is the default"
	}
	if v := params.GetTlsMaximumProtocolVersion(); v != tlsv3.TlsParameters_TLS_AUTO {
		highest = v
	} else {
		defaults = "the highest is the default for connections to upstreams"
	}
	if lowest <= highest {
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no version of TLS is left: the lowest is %s, and the highest is %s", lowest, highest),
		Notes:   []string{defaults, "Envoy accepts this, and fails every handshake"},
		Help:    fmt.Sprintf("write tls_maximum_protocol_version: %s, or a lower minimum", lowest),
	}
	if params.GetTlsMaximumProtocolVersion() == tlsv3.TlsParameters_TLS_AUTO {
		d.Fixes = lint.Insert(at, "tls_maximum_protocol_version", lowest.String()).Safe("allow the version that is required")
	}
	p.Report(at.Field(field), d)
}
