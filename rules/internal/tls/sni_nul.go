package tls

import (
	"strings"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "sni-nul",
	Severity: lint.Error,
	Summary:  "a server name (SNI) contains a NUL character",
	Links:    []string{"ClientContextConfigImpl::ClientContextConfigImpl (source/common/tls/context_config_impl.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *tlsv3.UpstreamTlsContext) {
		if strings.Contains(m.GetSni(), "\x00") {
			p.Reject(at.Field("sni"), lint.Rejection{
				Message:  "the server name contains a NUL character",
				Help:     "remove the character: no server has such a name",
				Upstream: "SNI names containing NULL-byte are not allowed",
			})
		}
	})),
})
