package route

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "apex-not-covered",
	Severity: lint.Info,
	Summary:  "a wildcard takes all subdomains of a name, and nothing takes the name itself",
	Links: []string{
		"RouteMatcher::findWildcardVirtualHost (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-virtualhost",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, table *routev3.RouteConfiguration) {
		if _, ok := tableOf(p, at); !ok || table.GetVhds() != nil {
			return
		}
		domains := domainsOf(table)
		for i, host := range table.GetVirtualHosts() {
			for j, domain := range host.GetDomains() {
				apex, ok := strings.CutPrefix(domain, "*.")
				if !ok || !strings.Contains(apex, ".") || strings.ContainsAny(apex, "*:") {
					continue
				}
				if _, covered := domains.Owner(apex); covered {
					continue
				}
				p.Report(at.Item("virtual_hosts", i).Item("domains", j), lint.Diagnostic{
					Message: fmt.Sprintf("no virtual host takes the host %s itself", apex),
					Notes:   []string{fmt.Sprintf("a star matches at least one character; Envoy answers requests for %s with 404", apex)},
					Help:    fmt.Sprintf("add the domain %q, unless no client asks for it", apex),
				})
			}
		}
	}),
})

// domainsOf returns the domains of a route table, with the indexes of their virtual hosts.
func domainsOf(table *routev3.RouteConfiguration) *match.Domains[int] {
	domains := &match.Domains[int]{IgnorePort: table.GetIgnorePortInHostMatching()}
	for i, host := range table.GetVirtualHosts() {
		for _, domain := range host.GetDomains() {
			domains.Add(domain, i)
		}
	}
	return domains
}
