package http

import (
	tapv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/tap/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "tap-without-admin",
	Severity: lint.Error,
	Summary:  "a tap is controlled by the admin interface, and the bootstrap has none",
	Links:    []string{"ExtensionConfigBase::ExtensionConfigBase (source/extensions/common/tap/extension_config_base.cc)"},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *tapv3.CommonExtensionConfig) {
		b, _ := p.Snapshot.Bootstrap()
		if m.GetAdminConfig() == nil || b == nil || b.GetAdmin().GetAddress() != nil {
			return
		}
		p.Report(at.Field("admin_config").Key(), lint.Diagnostic{
			Message:  "the admin interface controls this tap, but the bootstrap does not have one",
			Notes:    []string{"Envoy crashes when it loads this"},
			Help:     "add admin: {address: …} to the bootstrap, or use static_config",
			Rejected: true,
		})
	})),
})
