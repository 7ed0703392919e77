package tls

import (
	"fmt"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-sni",
	Severity: lint.Warning,
	Summary:  "a cluster connects to a public server over TLS without the server's name (SNI)",
	Links: []string{
		"ClientContextImpl::newSsl (source/common/tls/client_context_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/faq/configuration/sni",
	},
	Run: eachUpstream(func(p *lint.Pass, at lint.At, u upstream) {
		name := check.PublicName(u.cluster)
		if name == "" || u.sendsName() {
			return
		}
		p.Report(at.Key(), lint.Diagnostic{
			Message: fmt.Sprintf("Envoy connects to %s without sending this name (SNI)", name),
			Notes:   []string{"a server with several sites then answers with a default certificate, or closes the connection"},
			Help:    fmt.Sprintf("write sni: %s", name),
			Fixes:   lint.Insert(at, "sni", name).Likely("send the name of the server"),
		})
	}),
})
