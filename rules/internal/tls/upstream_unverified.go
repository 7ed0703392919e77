package tls

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "upstream-unverified",
	Severity: lint.Info,
	Summary:  "a cluster uses TLS and has nothing to verify its servers with, so it accepts any certificate",
	Links: []string{
		"DefaultCertValidator::initializeSslContexts (source/common/tls/cert_validator/default_validator.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/security/ssl",
		"https://github.com/envoyproxy/envoy/issues/21409",
	},
	Run: eachUpstream(func(p *lint.Pass, at lint.At, u upstream) {
		if envoy.VerifiesPeer(u.GetCommonTlsContext()) {
			return
		}
		p.Report(at.Key(), lint.Diagnostic{
			Message: fmt.Sprintf("cluster %q accepts any certificate of its servers", u.cluster.GetName()),
			Notes:   []string{"the connections are encrypted, but anyone who can redirect them can read and change the requests"},
			Help:    "add a validation_context with trusted_ca, and with match_typed_subject_alt_names or auto_sni_san_validation",
		})
	}),
})
