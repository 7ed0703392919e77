package tls

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "on-demand-resumption",
	Severity: lint.Error,
	Summary:  "certificates that Envoy gets on demand are combined with session resumption",
	Links:    []string{"OnDemandTlsCertificateSelectorFactory (source/extensions/transport_sockets/tls/cert_selectors/on_demand/config.cc)"},
	Run: eachContext(func(p *lint.Pass, at lint.At, u use) {
		selector := u.common.GetCustomTlsCertificateSelector().GetTypedConfig()
		if u.server == nil || decode.TypeName(selector.GetTypeUrl()) != onDemand || noResumption(u.server) {
			return
		}
		p.Reject(at.Field("custom_tls_certificate_selector").Key(), lint.Rejection{
			Message:  "the sessions of certificates on demand cannot be resumed",
			Help:     "write disable_stateless_session_resumption: true and disable_stateful_session_resumption: true next to common_tls_context",
			Upstream: "On demand certificates are not integrated with session resumption support.",
		})
	}),
})

const onDemand = "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config"

func noResumption(c *tlsv3.DownstreamTlsContext) bool {
	return c.GetDisableStatelessSessionResumption() && c.GetDisableStatefulSessionResumption()
}
