package tls

import (
	"fmt"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "weak-tls",
	Severity: lint.Info,
	Summary:  "TLS 1.0 or 1.1 is allowed, which are deprecated",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto",
		"https://www.rfc-editor.org/rfc/rfc8996",
	},
	Run: eachContext(func(p *lint.Pass, at lint.At, u use) {
		lowest := u.common.GetTlsParams().GetTlsMinimumProtocolVersion()
		if u.quic || lowest != tlsv3.TlsParameters_TLSv1_0 && lowest != tlsv3.TlsParameters_TLSv1_1 {
			return
		}
		p.Report(at.Field("tls_params", "tls_minimum_protocol_version"), lint.Diagnostic{
			Message: fmt.Sprintf("%s is allowed, and Envoy's default is TLS 1.2", lowest),
			Notes:   []string{"TLS 1.0 and 1.1 sign handshakes with SHA-1 and MD5, and browsers have removed them"},
			Help:    "remove tls_minimum_protocol_version, unless peers are that old",
		})
	}),
})
