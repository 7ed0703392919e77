package tls

import (
	"fmt"
	"unicode"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "san-suffix-without-dot",
	Severity: lint.Warning,
	Summary:  "a suffix of DNS names does not begin with a dot, so it also matches other domains",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *tlsv3.SubjectAltNameMatcher) {
		suffix := m.GetMatcher().GetSuffix()
		if m.GetSanType() != tlsv3.SubjectAltNameMatcher_DNS || suffix == "" || !beginsLabel(suffix) {
			return
		}
		where := at.Field("matcher", "suffix")
		p.Report(where, lint.Diagnostic{
			Message: fmt.Sprintf("a certificate for evil%s is accepted too", suffix),
			Notes:   []string{"a suffix is compared as text, not as the labels of a domain"},
			Help:    fmt.Sprintf(`write ".%s" for its subdomains, and a matcher with exact: %s for the domain itself`, suffix, suffix),
			Fixes:   lint.Replace(where, "."+suffix).Likely("match subdomains only"),
		})
	}),
})

// beginsLabel reports whether a suffix begins like the name of a domain.
func beginsLabel(suffix string) bool {
	first := rune(suffix[0])
	return unicode.IsLetter(first) || unicode.IsDigit(first)
}
