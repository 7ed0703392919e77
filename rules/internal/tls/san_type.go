package tls

import (
	"fmt"
	"strings"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "san-type",
	Severity: lint.Warning,
	Summary:  "a matcher of subject alternative names has a type that its text cannot have, so it matches no certificate",
	Links: []string{
		"DefaultCertValidator::verifySubjectAltName (source/common/tls/cert_validator/default_validator.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *tlsv3.SubjectAltNameMatcher) {
		text, field := m.GetMatcher().GetExact(), "exact"
		if text == "" {
			text, field = m.GetMatcher().GetPrefix(), "prefix"
		}
		meant := tlsv3.SubjectAltNameMatcher_URI
		if strings.Contains(text, "://") == (m.GetSanType() == meant) {
			return
		}
		switch {
		case m.GetSanType() == tlsv3.SubjectAltNameMatcher_OTHER_NAME, m.GetSanType() == tlsv3.SubjectAltNameMatcher_SAN_TYPE_UNSPECIFIED:
			return
		case m.GetSanType() == meant:
			if field == "prefix" || strings.Contains(text, ":") || !strings.Contains(text, ".") {
				return // such as the URI urn:shop:api
			}
			meant = tlsv3.SubjectAltNameMatcher_DNS
		}
		p.Report(at.Field("san_type"), lint.Diagnostic{
			Message: fmt.Sprintf("%q is not a name of type %s, so this matches no certificate", text, m.GetSanType()),
			Notes:   []string{"Envoy compares the text only with names of this type in the certificate"},
			Help:    fmt.Sprintf("write san_type: %s", meant),
			Fixes:   lint.Replace(at.Field("san_type"), meant.String()).Likely("write the type of this name"),
			Related: []lint.Related{lint.RelatedTo(at.Field("matcher", field), "this is what the name has to be")},
		})
	}),
})
