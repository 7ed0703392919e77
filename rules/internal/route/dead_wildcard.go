package route

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "dead-wildcard",
	Severity: lint.Warning,
	Summary:  "a star in a domain that is not a wildcard",
	Links: []string{
		"RouteMatcher::RouteMatcher (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-virtualhost",
		"https://github.com/envoyproxy/envoy/issues/22664",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, host *routev3.VirtualHost) {
		eachDomain(p, at, host, func(own lint.At, domain string) {
			if !match.LiteralStar(domain) {
				return
			}
			d := lint.Diagnostic{
				Message: fmt.Sprintf("the domain %q matches only hosts with a star in their name", domain),
				Notes:   []string{"Envoy takes a star for a wildcard only at the beginning or at the end of a domain, and only one"},
				Help:    "list the domains one by one, or write one star at an end",
			}
			if name, ok := strings.CutSuffix(domain, ":*"); ok && strings.HasPrefix(name, "*.") && !match.LiteralStar(name) {
				d.Help = fmt.Sprintf("write %q, and set ignore_port_in_host_matching: true in the route table", name)
			}
			p.Report(own, d)
		})
	}),
})

// eachDomain calls f for the domains of a virtual host that Envoy builds.
func eachDomain(p *lint.Pass, at lint.At, host *routev3.VirtualHost, f func(own lint.At, domain string)) {
	if _, ok := tableOf(p, at); !ok {
		return
	}
	for i, domain := range host.GetDomains() {
		f(at.Item("domains", i), domain)
	}
}
