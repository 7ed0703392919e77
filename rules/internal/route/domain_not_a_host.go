package route

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "domain-not-a-host",
	Severity: lint.Warning,
	Summary:  "a domain that is a URL, or has a character that no host has",
	Links: []string{
		"HeaderUtility::authorityIsValid (source/common/http/header_utility.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-virtualhost",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, host *routev3.VirtualHost) {
		eachDomain(p, at, host, func(own lint.At, domain string) {
			wrong, found := match.NotInHosts(domain)
			if !found {
				return
			}
			d := lint.Diagnostic{
				Message: fmt.Sprintf("no host matches the domain %q: no host contains %q", domain, string(wrong)),
				Notes:   []string{"Envoy compares domains with the Host header alone, and answers a request with 400 if that contains such a character"},
				Help:    "write the name of the host, as clients send it",
			}
			if wrong > '\x7f' {
				d.Help = "write the name as clients send it, in Punycode: xn--…"
			} else if near := hostIn(domain); near != "" {
				d.Help = fmt.Sprintf("write %q", near)
				d.Fixes = lint.Replace(own, near).Likely("write only the host")
			}
			p.Report(own, d)
		})
	}),
})

// hostIn returns the host in a URL, or "" if there is none.
func hostIn(text string) string {
	text = strings.TrimSpace(text)
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	text, _, _ = strings.Cut(text, "/")
	if _, wrong := match.NotInHosts(text); wrong || match.LiteralStar(text) {
		return ""
	}
	return text
}
