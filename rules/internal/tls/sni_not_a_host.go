package tls

import (
	"fmt"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "sni-not-a-host",
	Severity: lint.Warning,
	Summary:  "a cluster sends a server name (SNI) that is a URL or has a port",
	Links: []string{
		"ClientContextImpl::newSsl (source/common/tls/client_context_impl.cc)",
		"https://www.rfc-editor.org/rfc/rfc6066#section-3",
	},
	Run: eachUpstream(func(p *lint.Pass, at lint.At, u upstream) {
		host := check.HostIn(u.GetSni())
		if host == "" || u.takesName() {
			return
		}
		at = at.Field("sni")
		p.Report(at, lint.Diagnostic{
			Message: fmt.Sprintf("no server has the name %q", u.GetSni()),
			Notes:   []string{"Envoy sends sni as it is; a server with several sites then answers with a default certificate, or closes the connection"},
			Help:    fmt.Sprintf("write sni: %s", host),
			Fixes:   lint.Replace(at, host).Likely("write the name of the host alone"),
		})
	}),
})
