package tls

import (
	"fmt"
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "key-provider-unknown",
	Severity: lint.Error,
	Summary:  "a private_key_provider, of which the official build of Envoy has none",
	Links:    []string{"TlsCertificateConfigImpl::TlsCertificateConfigImpl (source/common/ssl/tls_certificate_config_impl.cc)"},
	Run: eachCertificate(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate, uses []use) {
		provider := c.GetPrivateKeyProvider()
		if provider == nil || slices.Contains(p.Target.Extensions().Categories(), "envoy.tls.key_providers") {
			return
		}
		d := lint.Diagnostic{
			Severity: lint.Warning,
			Message:  fmt.Sprintf("the official build of %s has no providers of private keys, such as %q", p.Target, provider.GetProviderName()),
			Help:     "use a build that has it, such as envoy-contrib, or write private_key",
			Rejected: true, Upstream: "Failed to load private key provider: " + provider.GetProviderName(),
		}
		if p.TargetGiven {
			d.Severity = lint.Error
		}
		p.Report(at.Field("private_key_provider", "provider_name"), d)
	}),
})
